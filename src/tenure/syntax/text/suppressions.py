"""Comments by which a person allows what a rule would report: `# tenure: allow TN201, TN204`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import first_line, inner_bodies, parse
from tenure.syntax.text.tree_walks import walk

_COMMENT = re.compile(r"[#;]\s*tenure:\s*(allow|allow-file)\s+(TN\d{3}(?:[\s,;]+TN\d{3})*)\b")
"""Other comments may stand before it: `# type: ignore  # tenure: allow TN101`."""


@dataclass(frozen=True)
class _Allowed:
    everywhere: frozenset[str]
    by_line: dict[int, frozenset[str]]
    alone: frozenset[int]
    """Lines that hold nothing but a comment."""


def is_allowed(source: SourceFile, line: int, code: str) -> bool:
    """Whether a comment allows rule `code` at the statement on `line`.

    The comment stands on any line of the statement, its decorators included, or alone right above it; `allow-file`
    stands before the file's first statement (a docstring may precede it) and holds for all lines. Costs one pass over
    the tokens of a file that holds such a comment.
    """
    if "tenure:" not in source.text:
        return False
    allowed = _allowed(source)
    if code in allowed.everywhere:
        return True
    first, last = _span(source, line)
    lines = [*range(first, last + 1), *([first - 1] if first - 1 in allowed.alone else [])]
    return any(code in allowed.by_line.get(each, ()) for each in lines)


@lru_cache(maxsize=64)
def _allowed(source: SourceFile) -> _Allowed:
    start = _first_statement(source)
    everywhere: set[str] = set()
    by_line: dict[int, frozenset[str]] = {}
    alone = set()
    for token in _comments(source.text):
        line = token.start[0]
        if token.line.lstrip().startswith("#"):
            alone.add(line)
        for found in _COMMENT.finditer(token.string):
            codes = frozenset(re.split(r"[\s,;]+", found[2]))
            if found[1] == "allow":
                by_line[line] = by_line.get(line, frozenset()) | codes
            elif line < start:
                everywhere |= codes
    return _Allowed(frozenset(everywhere), by_line, frozenset(alone))


def _comments(text: str) -> list[tokenize.TokenInfo]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append(token)
    except (tokenize.TokenError, SyntaxError):
        pass  # what was read up to the damage counts
    return found


def _first_statement(source: SourceFile) -> int:
    """The line of the first statement that is no docstring; one past the end where there is none."""
    try:
        body = parse(source).body
    except SourceError:
        return 1
    is_text = body and isinstance(body[0], ast.Expr) and isinstance(getattr(body[0].value, "value", None), str)
    rest = body[1:] if is_text else body
    return rest[0].lineno if rest else source.text.count("\n") + 2


def _span(source: SourceFile, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement around a line; of a compound one its head alone."""
    return _spans(source).get(line, (line, line))


@lru_cache(maxsize=8)
def _spans(source: SourceFile) -> dict[int, tuple[int, int]]:
    """`_span` of every line that a statement stands on."""
    found: dict[int, tuple[int, int]] = {}
    try:
        tree = parse(source)
    except SourceError:
        return found
    lines = source.text.split("\n")
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            span = first_line(node), _head_end(node, lines)
            for line in range(span[0], span[1] + 1):
                found[line] = max(found.get(line, span), span)
    return found


def _head_end(node: ast.stmt, lines: Sequence[str]) -> int:
    """The last line of a statement, of a compound one before its body and the comments that this begins with."""
    inner = inner_bodies(node)
    if not inner:
        return node.end_lineno or node.lineno
    last = (node.cases[0].pattern.lineno if isinstance(node, ast.Match) else first_line(inner[0][0])) - 1
    while last > node.lineno and lines[last - 1].strip()[:1] in ("", "#"):
        last -= 1
    return max(node.lineno, last)
