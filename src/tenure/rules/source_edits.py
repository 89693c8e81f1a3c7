"""Edits of source findings: by rule, with whether they can change what the program computes.

A rule that knows its edits when it makes the finding passes them on itself (`claim_source(edits=..., safe=...)`); here
are those that are made from the place of the finding alone.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from functools import lru_cache

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.model.source_finding import SourceFinding
from tenure.syntax.edits.amp_imports import rename_import
from tenure.syntax.edits.amp_names import rename_amp
from tenure.syntax.edits.bounded_caches import drop_cache, needs_caches
from tenure.syntax.edits.kept_values import call_method, exceptions_in, kept_at
from tenure.syntax.edits.left_gradients import drop_behind_step
from tenure.syntax.edits.statement_edits import decorate, put_rest_under, remove_statement, set_argument, swap_lines
from tenure.syntax.program.program import Program
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.raised_again import needs_traceback
from tenure.syntax.text.scopes import MODULE, parse
from tenure.syntax.text.tree_walks import walk

_MOST_FILES = 200
"""All files of a program are asked who else uses what an edit changes; with more of them none is offered."""
Maker = Callable[[Sequence[SourceFile], SourceFile, SourceFinding], tuple[Edit, ...]]


def with_source_edits(program: Program, finding: SourceFinding) -> SourceFinding:
    """The finding with the edits that carry out its remedy; as it came where it has some, or none are sure."""
    made = _MAKERS.get(finding.rule)
    if finding.edits or made is None:
        return finding
    sources = _sources(program)
    source = next(each for each in sources if each.path == finding.file)
    make, safe = made
    edits = make(sources, source, finding) if len(sources) <= _MOST_FILES else ()
    return dataclasses.replace(finding, edits=edits, safe=safe) if edits else finding


@lru_cache(maxsize=1)
def _sources(program: Program) -> list[SourceFile]:
    return [each.source for each in program.functions if each.qualname == MODULE]


def _zero_grad(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    return drop_behind_step(sources, source.path, finding.line)


def _without_cache(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    return () if needs_caches(sources) else drop_cache(source, finding.line)


def _while_it_is_needed(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    """The handle of a hook removes it when a `with` ends."""
    statement = _statement_at(source, finding)
    return put_rest_under(source, statement) if statement is not None else ()


def _removed(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    statement = _statement_at(source, finding)
    return remove_statement(source, statement) if statement is not None else ()


def _swapped(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    statement = _statement_at(source, finding)
    return swap_lines(source, statement) if statement is not None else ()


def _to_none(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    call = _call_at(source, finding)
    return set_argument(source, call, "set_to_none", None) if call is not None else ()


def _renamed(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    call = _call_at(source, finding)
    if call is not None:
        return rename_amp(source, call)
    imports = (node for node in parse(source).body if isinstance(node, (ast.Import, ast.ImportFrom)))
    statement = next((node for node in imports if node.lineno == finding.line), None)
    return rename_import(sources, source, statement) if statement is not None else ()


def _without_graphs(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    """All of the function under `no_grad`: what it makes may go where inference tensors may not."""
    tree = parse(source)
    function = function_around(tree, [finding.line])
    names = [each.asname or each.name for node in tree.body if isinstance(node, ast.Import) for each in node.names]
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or "torch" not in names:
        return ()
    return decorate(source, function, "torch.no_grad()")


def _statement_at(source: SourceFile, finding: SourceFinding) -> ast.Expr | None:
    """The statement that is nothing but the call of a finding."""
    call = _call_at(source, finding)
    nodes = _nodes_by_line(source).get(finding.line, ()) if call is not None else ()
    return next((node for node in nodes if isinstance(node, ast.Expr) and node.value is call), None)


def _call_at(source: SourceFile, finding: SourceFinding) -> ast.Call | None:
    """The call that begins and ends where a finding does."""
    lines = _lines_of(source)

    def place(line: int, offset: int) -> tuple[int, int]:
        return line, len(lines[line - 1].encode()[:offset].decode(errors="replace")) + 1

    span = ((finding.line, finding.column), (finding.end_line, finding.end_column))
    return next(
        (
            node
            for node in _nodes_by_line(source).get(finding.line, ())
            if isinstance(node, ast.Call)
            and (place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)) == span
        ),
        None,
    )


@lru_cache(maxsize=8)
def _nodes_by_line(source: SourceFile) -> dict[int, list[ast.Call | ast.Expr]]:
    """Calls, and statements that are nothing but a value, by the line that they begin on."""
    found: dict[int, list[ast.Call | ast.Expr]] = {}
    for node in walk(parse(source)):
        if isinstance(node, (ast.Call, ast.Expr)):
            found.setdefault(node.lineno, []).append(node)
    return found


@lru_cache(maxsize=8)
def _lines_of(source: SourceFile) -> list[str]:
    return source.text.split("\n")


def _detached(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    """Of a state that is computed from itself; a container's elements, and what a call unpacks, are not told apart."""
    _, kept = kept_at(source, finding.line) or ("", None)
    if kept is None or not isinstance(kept.statement, (ast.Assign, ast.AugAssign)):
        return ()
    if not isinstance(kept.value, (ast.Name, ast.Attribute, ast.Call, ast.BinOp)):
        return ()
    return call_method(source, kept.value, ".detach()") if isinstance(kept.target, (ast.Name, ast.Attribute)) else ()


def _cloned(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    _, kept = kept_at(source, finding.line) or ("", None)
    if kept is None or not isinstance(kept.value, ast.Subscript):
        return ()
    return call_method(source, kept.value, ".clone()")


def _without_traceback(sources: Sequence[SourceFile], source: SourceFile, finding: SourceFinding) -> tuple[Edit, ...]:
    found = kept_at(source, finding.line)
    names = exceptions_in(source, found[1]) if found is not None else []
    if found is None or len(names) != 1 or needs_traceback(sources, found[0]):
        return ()
    return call_method(source, names[0], ".with_traceback(None)")


_MAKERS: dict[str, tuple[Maker, bool]] = {
    "TN104": (_zero_grad, True),
    "TN105": (_detached, False),
    "TN108": (_without_graphs, False),
    "TN204": (_cloned, False),
    "TN205": (_without_cache, False),
    "TN302": (_without_traceback, False),
    "TN303": (_while_it_is_needed, False),
    "TN407": (_to_none, False),
    "TN501": (_removed, False),
    "TN502": (_swapped, True),
    "TN505": (_renamed, False),
}
"""Per rule what makes its edits, and whether they are safe."""
