"""The expression whose value a statement keeps under a name, and the text that makes it keep less."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines, insert_line
from tenure.syntax.text.expressions import assigned_parts, called_name, split_receiver
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import begins_its_line, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.store_calls import GROWING_FUNCTIONS, stores_of_call
from tenure.syntax.text.tree_walks import walk

PRIMARIES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
"""What a method call can stand behind without parentheses."""
_SEQUENCES = ("list", "tuple")
_KEEPING_ONE = GROWING_FUNCTIONS | {"append", "appendleft", "add", "insert", "push", "put", "put_nowait", "setdefault"}


@dataclass(frozen=True)
class Kept:
    """A statement and what it keeps: `value` is None where it cannot be told apart, as in `y, self.h = f(x)`."""

    statement: ast.stmt
    value: ast.expr | None
    target: ast.expr | None = None
    """What is assigned to."""
    depth: int = 0
    """Subscripts between the name and the container that is added to: 1 of `self.rows[-1].append(x)`, of
    `self.rows.setdefault(key, []).append(x)` and of `self.rows[key] += [x]`."""


def find_kept(source: SourceFile, line: int, name: str) -> Kept | None:
    """What the statement around `line` keeps under `name`: an attribute, variable or container of that name."""
    for statement in statements_around(source, line):
        found = [kept for stored, kept in _stores(statement) if stored == name.partition("[")[0]]
        if len(found) == 1:
            return found[0]
    return None


def kept_at(source: SourceFile, line: int) -> tuple[str, Kept] | None:
    """What the innermost statement around `line` keeps, with the name it keeps it under; None where it keeps several
    things, or none, or shares its line."""
    around = statements_around(source, line)
    if not around or any(each.lineno == around[0].lineno for each in around[1:]):
        return None
    found = list(_stores(around[0]))
    return found[0] if len(found) == 1 else None


def statements_around(source: SourceFile, line: int) -> list[ast.stmt]:
    """Simple ones, the innermost first."""
    around = [node for node in _simple_statements(source) if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return sorted(around, key=lambda node: -node.lineno)


@lru_cache(maxsize=8)
def _simple_statements(source: SourceFile) -> tuple[ast.stmt, ...]:
    """Those of a file that store or return something; none where it cannot be parsed."""
    try:
        nodes = walk(parse(source))
    except SourceError:
        return ()
    kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
    return tuple(node for node in nodes if isinstance(node, kinds))


def _stores(statement: ast.stmt) -> Iterator[tuple[str, Kept]]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            for part, value in assigned_parts(target, statement.value):
                yield split_receiver(part)[1], Kept(statement, value, part)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        extends = isinstance(statement, ast.AugAssign) and isinstance(statement.value, (ast.List, ast.Tuple))
        depth = _subscripts(statement.target) if extends else 0
        yield split_receiver(statement.target)[1], Kept(statement, statement.value, statement.target, depth)
    calls = [node for node in walk(statement) if isinstance(node, ast.Call)]
    tables = {id(node.func.value) for node in calls if isinstance(node.func, ast.Attribute)}
    for node in calls:
        if not (called_name(node) == "setdefault" and id(node) in tables):
            for store in stores_of_call(node):
                each = isinstance(store.value, ast.GeneratorExp)
                one = store.kind != "grow" or store.method in _KEEPING_ONE
                if isinstance(store.value, ast.expr) and (one or each):
                    yield store.name, Kept(statement, store.value, depth=_subscripts(getattr(node.func, "value", None)))


def _subscripts(container: ast.expr | None) -> int:
    """How many entries of entries it is: 1 of `self.rows[key]` and of `self.rows.setdefault(key, [])`."""
    found = 0
    while True:
        if isinstance(container, ast.Subscript):
            container = container.value
        elif isinstance(container, ast.Call) and isinstance(container.func, ast.Attribute):
            if container.func.attr != "setdefault":
                return found
            container = container.func.value
        else:
            return found
        found += 1


def part_of(value: ast.expr, labels: Sequence[str]) -> ast.expr | None:
    """The part of a display (or comprehension, `tuple(... for ...)`, or call by keyword) that `[1]`, `['loss']` or
    `.loss` leads to."""
    found: ast.expr | None = value
    for label in labels:
        if found is None:
            return None
        found = _inner(found, label)
    return found


def _inner(value: ast.expr, label: str) -> ast.expr | None:
    if isinstance(value, (ast.Tuple, ast.List)):
        at = int(label) if label.isdecimal() else -1
        return value.elts[at] if 0 <= at < len(value.elts) else None
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        return next((item for key, item in pairs if isinstance(key, ast.Constant) and repr(key.value) == label), None)
    if isinstance(value, ast.ListComp):
        return value.elt if label.isdecimal() else None
    if isinstance(value, ast.DictComp):
        return value.value
    if isinstance(value, ast.Call) and label.isdecimal():
        only = value.args[0] if len(value.args) == 1 else None
        is_sequence = isinstance(value.func, ast.Name) and value.func.id in _SEQUENCES
        return only.elt if isinstance(only, ast.GeneratorExp) and is_sequence else None
    if isinstance(value, ast.Call):
        name = label.strip("'\"")
        return next((keyword.value for keyword in value.keywords if keyword.arg == name), None)
    return None


def computes_on(kept: Kept) -> bool:
    """Whether a statement computes the next value of an attribute from the one before: `self.mean = f(self.mean)`."""
    text = dotted(kept.target)
    return "." in text and kept.value is not None and any(dotted(each) == text for each in walk(kept.value))


def each_of(value: ast.expr | None) -> ast.expr | None:
    """What a comprehension keeps of each turn; anything else as it is."""
    if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return value.elt
    return value.value if isinstance(value, ast.DictComp) else value


def call_method(source: SourceFile, value: ast.expr, call: str) -> tuple[Edit, ...]:
    """The edits that put a method call (`.detach()`) behind an expression, in parentheses where it needs them."""
    return call_method_of_all(source, [value], call)


def call_method_of_all(source: SourceFile, values: Sequence[ast.expr], call: str) -> tuple[Edit, ...]:
    """The edits that put a method call behind each of some expressions; none where one of them has no value."""
    insertions = []
    for value in values:
        if isinstance(value, (ast.Starred, ast.Constant, ast.GeneratorExp)) or value.end_lineno is None:
            return ()
        opens = not isinstance(value, PRIMARIES)
        insertions += [Insertion(value.lineno, value.col_offset, "(")] * opens
        insertions.append(Insertion(value.end_lineno, value.end_col_offset or 0, ")" * opens + call))
    return insert_into_lines(source, insertions) if insertions else ()


def parts_of_display(value: ast.expr) -> list[ast.expr]:
    """What lies in a tuple, list or dict as written, at any depth; of anything else, it itself."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return [part for each in value.elts for part in parts_of_display(each)]
    if isinstance(value, ast.Dict):
        return [part for each in value.values for part in parts_of_display(each)]
    return [value]


def ends_with_call(value: ast.expr, *methods: str) -> bool:
    """Whether an expression ends in a call of one of these methods: `x.detach()`."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in methods


def selects(value: ast.expr) -> bool:
    """Whether an expression takes rows or slices, so that its value may be a view of more."""
    is_key = isinstance(value, ast.Subscript) and isinstance(getattr(value.slice, "value", None), str)
    return isinstance(value, ast.Subscript) and not is_key


def rebind_after(source: SourceFile, kept: Kept, pattern: str) -> tuple[Edit, ...]:
    """The edit that adds `x = <pattern of x>` behind a statement that assigns to a plain `x` or `self.x`."""
    text = dotted(kept.target)
    end = kept.statement.end_lineno
    if not text or "[]" in text or end is None:
        return ()
    if not begins_its_line(source, kept.statement):
        return ()
    return insert_line(source, end + 1, f"{indent_of(source, kept.statement)}{text} = {pattern.format(text)}")


def exceptions_in(source: SourceFile, kept: Kept) -> list[ast.expr]:
    """Names of the caught exception in what a statement of its handler keeps; none where the handler raises again."""
    line = kept.statement.lineno
    near = (each for each in nodes_of(source, ast.ExceptHandler) if each.lineno <= line <= (each.end_lineno or line))
    handlers = [node for node in near if kept.statement in walk(node)]
    handler = max(handlers, key=lambda node: node.lineno, default=None)
    if handler is None or kept.value is None or any(isinstance(node, ast.Raise) for node in walk(handler)):
        return []
    parts = [kept.value]
    if isinstance(kept.value, (ast.Tuple, ast.List)):
        parts = list(kept.value.elts)
    elif isinstance(kept.value, ast.Dict):
        parts = list(kept.value.values)
    return [part for part in parts if isinstance(part, ast.Name) and part.id == handler.name]
