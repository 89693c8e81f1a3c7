"""Where a loop can let go of its variables before its next turn: `del name` after their last use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.name_uses import (
    Use,
    function_around,
    indent_of,
    is_shared,
    sees_all_names,
    spans,
    stored_in,
    surely_bound,
    uses_in,
)
from tenure.syntax.text.scopes import parse, statements
from tenure.syntax.text.tree_walks import children

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
LoopNode = ast.For | ast.AsyncFor | ast.While


def drop_names(source: SourceFile, names: Sequence[str], lines: Collection[int], running: int = 0) -> tuple[Edit, ...]:
    """The edit by which the innermost loop around all `lines` (where the names are bound) lets go of them.

    `del a, b` behind their last use; `a = b = None` where a turn may not bind them, or, before the first statement,
    where they are read behind the loop. None where a turn reads what an earlier one left, where another function
    uses the names, or where there is no such loop. None either where it would come too late for the line `running`
    (0: not known), at which the names must be gone: that is so where a loop inside the loop runs it.
    """
    try:
        tree = parse(source)
    except SourceError:
        return ()
    scope = function_around(tree, lines)
    loop = _loop_around(scope, lines)
    if loop is None or loop.body[0].lineno == loop.lineno:
        return ()
    uses = [use for use in uses_in(scope) if use.name in names]
    if any(use.inner for use in uses) or is_shared(tree, names) or sees_all_names(scope) or _is_carried(loop, names):
        return ()
    if _is_read_outside(scope, loop, uses):
        if isinstance(loop, (ast.For, ast.AsyncFor)) and stored_in(loop.target) & set(names):
            return ()
        return insert_line(source, loop.body[0].lineno, f"{indent_of(source, loop.body[0])}{' = '.join(names)} = None")
    edits = _after_last_use(source, loop, names)
    return () if edits and edits[0].line > running and _is_in_loop_inside(loop, running) else edits


def _after_last_use(source: SourceFile, loop: LoopNode, names: Sequence[str]) -> tuple[Edit, ...]:
    using = [at for at, node in enumerate(loop.body) if any(use.name in names for use in uses_in(node))]
    if not using:
        return ()
    last = loop.body[using[-1]]
    following = loop.body[using[-1] + 1 : using[-1] + 2]
    end = last.end_lineno or last.lineno
    if isinstance(last, _LEAVING) or any(node.lineno <= end for node in following):
        return ()
    bound = surely_bound(loop.body[: using[-1] + 1])
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        bound |= stored_in(loop.target)
    text = f"del {', '.join(names)}" if bound.issuperset(names) else f"{' = '.join(names)} = None"
    return insert_line(source, end + 1, indent_of(source, loop.body[0]) + text)


def _is_in_loop_inside(loop: LoopNode, line: int) -> bool:
    return any(isinstance(node, LoopNode) and spans(node, [line]) for node in statements(loop.body))


def _loop_around(scope: ast.AST, lines: Collection[int]) -> LoopNode | None:
    loops = [
        node
        for node in statements(getattr(scope, "body", []))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        and node.lineno <= min(lines)
        and max(lines) <= (node.body[-1].end_lineno or 0)
    ]
    return max(loops, key=lambda node: node.lineno, default=None)


def _is_carried(loop: LoopNode, names: Collection[str]) -> bool:
    """Whether a turn of the loop reads one of the names before it binds it."""
    if isinstance(loop, ast.While) and any(use.name in names for use in uses_in(ast.Expr(loop.test))):
        return True
    bound = stored_in(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else set()
    return any(name not in bound and _reads_first(loop.body, name) for name in names)


def _reads_first(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether the first statement that mentions a name reads it; of a compound one, its first inner one."""
    for node in statements(body):
        own = [use for use in _own_uses(node) if use.name == name]
        if own:
            return any(use.loads for use in own)
    return False


def _own_uses(node: ast.stmt) -> Iterator[Use]:
    """Mentions in a statement without those in the statements inside it."""
    if isinstance(node, ast.AugAssign):
        yield from uses_in(node)
        return
    for child in children(node):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            if isinstance(child, ast.Name):
                yield Use(child.id, child.lineno, isinstance(child.ctx, ast.Load))
            yield from uses_in(child)


def _is_read_outside(scope: ast.AST, loop: LoopNode, uses: Sequence[Use]) -> bool:
    """Whether a name is read behind the loop, or before it by the next turn of a loop around it."""
    end = loop.body[-1].end_lineno or 0
    around = [
        node
        for node in statements(getattr(scope, "body", []))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        and node is not loop
        and spans(node, [loop.lineno, loop.end_lineno or loop.lineno])
    ]
    first = min((node.lineno for node in around), default=loop.lineno)
    return any(use.loads and (use.line > end or first <= use.line < loop.lineno) for use in uses)
