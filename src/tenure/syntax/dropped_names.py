"""Where a loop can let go of its variables before its next turn: `del name` after their last use."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits import insert_line
from tenure.syntax.scopes import parse, statements

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LoopNode = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True)
class _Use:
    """One mention of a name. `inner` mentions stand in a function inside the scope."""

    name: str
    line: int
    loads: bool
    inner: bool = False


def drop_names(source: SourceFile, names: Sequence[str], lines: Collection[int]) -> tuple[Edit, ...]:
    """The edit by which the innermost loop around all `lines` (where the names are bound) lets go of them.

    `del a, b` behind their last use; `a = b = None` where a turn may not bind them, or, before the first statement,
    where they are read behind the loop. None where a turn reads what an earlier one left, where another function
    uses the names, or where there is no such loop.
    """
    try:
        tree = parse(source)
    except SourceError:
        return ()
    scope = _scope_around(tree, lines)
    loop = _loop_around(scope, lines)
    if loop is None or loop.body[0].lineno == loop.lineno:
        return ()
    uses = [use for use in _uses(scope) if use.name in names]
    if any(use.inner for use in uses) or _is_shared(scope, names) or _is_carried(loop, names):
        return ()
    if _is_read_outside(scope, loop, uses):
        if isinstance(loop, (ast.For, ast.AsyncFor)) and _stored(loop.target) & set(names):
            return ()
        return insert_line(source, loop.body[0].lineno, f"{_indent(source, loop)}{' = '.join(names)} = None")
    return _after_last_use(source, loop, names)


def _after_last_use(source: SourceFile, loop: LoopNode, names: Sequence[str]) -> tuple[Edit, ...]:
    using = [at for at, node in enumerate(loop.body) if any(use.name in names for use in _uses(node))]
    if not using:
        return ()
    last = loop.body[using[-1]]
    following = loop.body[using[-1] + 1 : using[-1] + 2]
    end = last.end_lineno or last.lineno
    if isinstance(last, _LEAVING) or any(node.lineno <= end for node in following):
        return ()
    bound = _surely_bound(loop.body[: using[-1] + 1])
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        bound |= _stored(loop.target)
    text = f"del {', '.join(names)}" if bound.issuperset(names) else f"{' = '.join(names)} = None"
    return insert_line(source, end + 1, _indent(source, loop) + text)


def _scope_around(tree: ast.Module, lines: Collection[int]) -> ast.AST:
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _spans(node, lines)
    ]
    return max(functions, key=lambda node: node.lineno, default=tree)


def _loop_around(scope: ast.AST, lines: Collection[int]) -> LoopNode | None:
    loops = [
        node
        for node in statements(getattr(scope, "body", []))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        and node.lineno <= min(lines)
        and max(lines) <= (node.body[-1].end_lineno or 0)
    ]
    return max(loops, key=lambda node: node.lineno, default=None)


def _spans(node: ast.stmt, lines: Collection[int]) -> bool:
    return node.lineno <= min(lines) and max(lines) <= (node.end_lineno or node.lineno)


def _uses(node: ast.AST, *, inner: bool = False) -> Iterator[_Use]:
    """Mentions of names under a node; a function inside keeps variables for later calls."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name):
            yield _Use(child.id, child.lineno, isinstance(child.ctx, ast.Load), inner)
        yield from _uses(child, inner=inner or isinstance(child, (*_FUNCTIONS, ast.ClassDef)))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield _Use(node.target.id, node.lineno, loads=True, inner=inner)


def _is_shared(scope: ast.AST, names: Collection[str]) -> bool:
    shared = (node for node in ast.walk(scope) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return any(name in names for node in shared for name in node.names)


def _is_carried(loop: LoopNode, names: Collection[str]) -> bool:
    """Whether a turn of the loop reads one of the names before it binds it."""
    if isinstance(loop, ast.While) and any(use.name in names for use in _uses(ast.Expr(loop.test))):
        return True
    bound = _stored(loop.target) if isinstance(loop, (ast.For, ast.AsyncFor)) else set()
    return any(name not in bound and _reads_first(loop.body, name) for name in names)


def _reads_first(body: Sequence[ast.stmt], name: str) -> bool:
    """Whether the first statement that mentions a name reads it; of a compound one, its first inner one."""
    for node in statements(body):
        own = [use for use in _own_uses(node) if use.name == name]
        if own:
            return any(use.loads for use in own)
    return False


def _own_uses(node: ast.stmt) -> Iterator[_Use]:
    """Mentions in a statement without those in the statements inside it."""
    if isinstance(node, ast.AugAssign):
        yield from _uses(node)
        return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            if isinstance(child, ast.Name):
                yield _Use(child.id, child.lineno, isinstance(child.ctx, ast.Load))
            yield from _uses(child)


def _is_read_outside(scope: ast.AST, loop: LoopNode, uses: Sequence[_Use]) -> bool:
    """Whether a name is read behind the loop, or before it by the next turn of a loop around it."""
    end = loop.body[-1].end_lineno or 0
    around = [
        node
        for node in statements(getattr(scope, "body", []))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        and node is not loop
        and _spans(node, [loop.lineno, loop.end_lineno or loop.lineno])
    ]
    first = min((node.lineno for node in around), default=loop.lineno)
    return any(use.loads and (use.line > end or first <= use.line < loop.lineno) for use in uses)


def _surely_bound(body: Sequence[ast.stmt]) -> set[str]:
    """Names that these statements bind in any case, leaving the loop aside."""
    bound: set[str] = set()
    for node in body:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            bound |= {name for item in node.items if item.optional_vars for name in _stored(item.optional_vars)}
            bound |= _surely_bound(node.body)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
            bound |= _stored(node)
        elif isinstance(node, ast.Delete):
            bound -= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return bound


def _stored(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _indent(source: SourceFile, loop: LoopNode) -> str:
    line = source.text.split("\n")[loop.body[0].lineno - 1]
    return line[: len(line) - len(line.lstrip())]
