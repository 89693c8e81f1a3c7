"""A list of which the program asks for the best entries alone, and that keeps those alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.container_reads import PUSH, append_at, reads_beside
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.name_uses import indent_of
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_ONE = ("min", "max")
_SOME = ("heapq.nsmallest", "heapq.nlargest", "nsmallest", "nlargest")
_LARGEST = re.compile(r"(heapq\.)?nlargest\(([^,]+), [^,]+\)")
"""Without a key: the smallest is the heap's first."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def keep_best(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit behind the `xs.append(x)` on `line` by which a list keeps what `min`, `max` or `sorted(xs)[:n]` take of
    it, where every read of it asks for that.

    Of entries that are equally good the first stays, as these functions have it. None where two reads ask for
    different things, or by what their function alone knows.
    """
    call = append_at(source, line, name)
    if call is None or "[" in dotted(call[1]):
        return ()
    statement, container = call
    text = ast.get_source_segment(source.text, container) or ""
    kept = {
        _best_of(parents, node, text)
        for parents, node in reads_beside(sources, source, statement, name, container)
        if not _only_asks_whether(parents, node)
    }
    best = kept.pop() if len(kept) == 1 else None
    if best is None:
        return ()
    indent, end = indent_of(source, statement), (statement.end_lineno or 0) + 1
    largest = _LARGEST.match(best)
    if isinstance(statement, ast.Expr) and _is_push(statement.value) and largest:
        module, count = largest.groups()
        lines = f"{indent}if len({text}) > {count}:\n{indent}    {module or ''}heappop({text})"
        return insert_line(source, end, lines)
    return insert_line(source, end, f"{indent}{text}[:] = {best}")


def _is_push(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and called_name(call) == PUSH


def _only_asks_whether(parents: Sequence[ast.AST], node: ast.expr) -> bool:
    """Whether a read asks no more than whether there are any: `if xs`, `not xs`."""
    parent = parents[-1]
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
        return parent.test is node
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


def _best_of(parents: Sequence[ast.AST], node: ast.expr, text: str) -> str | None:
    """What a read takes of a list, as an expression for a list; None where it may take others."""
    call = parents[-1]
    if not isinstance(call, ast.Call) or node not in call.args or not _is_its_own(call, node, parents):
        return None
    called = dotted(call.func)
    others = [ast.unparse(each) for each in call.args if each is not node]
    by = [f"{each.arg}={ast.unparse(each.value)}" for each in call.keywords]
    if called in _ONE and not others and "default=" not in "".join(by):
        return f"[{called}({', '.join([text, *by])})]"
    if called in _SOME and call.args[1:] == [node]:
        return f"{called}({', '.join([*others, text, *by])})"
    around = parents[-2] if len(parents) > 1 else None
    if called != "sorted" or not isinstance(around, ast.Subscript) or around.value is not call:
        return None
    count = _num_taken(around.slice)
    return f"sorted({', '.join([text, *by])})[:{count}]" if count else None


def _num_taken(at: ast.expr) -> int:
    """How many `[0]` or `[:n]` takes from the front; 0 where that is not known."""
    if isinstance(at, ast.Constant) and at.value == 0:
        return 1
    is_front = isinstance(at, ast.Slice) and at.lower is None and at.step is None
    upper = at.upper if isinstance(at, ast.Slice) and is_front else None
    count = upper.value if isinstance(upper, ast.Constant) else 0
    return count if isinstance(count, int) and count > 0 else 0


def _is_its_own(call: ast.Call, node: ast.expr, parents: Sequence[ast.AST]) -> bool:
    """Whether a call means the same elsewhere: no variable of the function that it is in stands in it."""
    function = next((each for each in reversed(parents) if isinstance(each, _FUNCTIONS)), None)
    if function is None:
        return False
    inside = {each.arg for part in walk(call) if isinstance(part, ast.Lambda) for each in part.args.args}
    local = {each.id for each in walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    local |= {each.arg for each in walk(function.args) if isinstance(each, ast.arg) and each.arg != "self"}
    used = {each.id for each in walk(call) if isinstance(each, ast.Name) and each is not node}
    return not (used - inside) & local
