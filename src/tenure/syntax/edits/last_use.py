"""Where a function can let go of a variable while it still runs: `del name` right behind its last use."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line, only_if_it_parses
from tenure.syntax.text.name_uses import (
    begins_its_line,
    function_around,
    indent_of,
    is_shared,
    sees_all_names,
    spans,
    stored_in,
    uses_in,
)
from tenure.syntax.text.scopes import inner_bodies, parse, statements
from tenure.syntax.text.tree_walks import children, walk

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_WITH = (ast.With, ast.AsyncWith)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
Body = Sequence[ast.stmt]


def drop_after_last_use(source: SourceFile, name: str, line: int, running: int | None) -> tuple[Edit, ...]:
    """The edit that deletes a variable, bound on `line`, before its function comes to the line `running` (None: where
    that is not known, and a run tells whether it comes in time).

    None where the function still uses it then, where a use may come before the binding (a branch, an earlier turn
    of a loop, an argument), where the name is used by another function or without being named (`locals()`).
    """
    try:
        tree = parse(source)
    except SourceError:
        return ()
    scope = function_around(tree, [line])
    if sees_all_names(scope) or is_shared(tree, [name]) or _is_bound_otherwise(scope, name):
        return ()
    block = _block_of_all_uses(scope, name)
    if not block or not block[0].lineno <= line <= (block[-1].end_lineno or 0) or not _binds(block[0], name):
        return ()
    last = _last_use(block, name)
    if last is None or (running is not None and not _comes_in_time(scope, block[0], last, running)):
        return ()
    if not begins_its_line(source, last):
        return ()
    return insert_line(source, (last.end_lineno or last.lineno) + 1, f"{indent_of(source, last)}del {name}")


def drop_each(source: SourceFile, lines: Mapping[str, int], running: int | None) -> tuple[Edit, ...]:
    """The edits that delete variables, bound on `lines`, each as `drop_after_last_use` does; none where one of them
    cannot go."""
    found = [drop_after_last_use(source, name, line, running) for name, line in lines.items()]
    return join_deletions(source, [edit for edits in found for edit in edits]) if all(found) else ()


def join_deletions(source: SourceFile, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Deletions that follow each other as one statement: `del a, b`."""
    texts: dict[int, str] = {}
    for edit in edits:
        text = edit.after or ""
        same = edit.line in texts
        texts[edit.line] = f"{texts[edit.line]}, {text.strip().removeprefix('del ')}" if same else text
    return only_if_it_parses(source, [Edit(source.path, line, "", text) for line, text in sorted(texts.items())])


def _block_of_all_uses(scope: ast.AST, name: str) -> Body:
    """The statements of one body from the first to the last that mention the name; none where several bodies do.

    The body of a `with` runs as if it stood without it.
    """
    body: Body = [node for inner in inner_bodies(scope) for node in inner]
    while True:
        using = [at for at, node in enumerate(body) if _mentions(node, name)]
        if not using:
            return ()
        first = body[using[0]]
        if _binds(first, name):
            return body[using[0] : using[-1] + 1]
        inside = [inner for inner in inner_bodies(first) if any(_mentions(node, name) for node in inner)]
        if len(inside) != 1 or _head_mentions(first, name):
            return ()
        if isinstance(first, _WITH):
            body = [*inside[0], *body[using[0] + 1 :]]
        elif len(using) == 1:
            body = inside[0]
        else:
            return ()


def _last_use(block: Body, name: str) -> ast.stmt | None:
    """The statement behind which nothing mentions the name, inside of a `with` where that is the last one."""
    last = [node for node in block if _mentions(node, name)][-1]
    while isinstance(last, _WITH) and not _binds(last, name):
        inside = [node for node in last.body if _mentions(node, name)]
        if not inside:
            break
        last = inside[-1]
    leaves = isinstance(last, _LEAVING) or _deletes(last, name)
    return None if leaves else last


def _comes_in_time(scope: ast.AST, first: ast.stmt, last: ast.stmt, running: int) -> bool:
    """Whether the deletion runs before `running` does: above it, or in the turn of a loop before."""
    if isinstance(scope, ast.stmt) and not spans(scope, [running]):
        return False
    if running > (last.end_lineno or last.lineno):
        return True
    again = (node for node in statements(getattr(scope, "body", [])) if isinstance(node, _LOOPS))
    turns = any(spans(node, [first.lineno, last.lineno, running]) and node is not last for node in again)
    return turns and running <= (first.end_lineno or first.lineno)


def _binds(node: ast.stmt, name: str) -> bool:
    """Whether a statement assigns to the name and does not read it."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    return name in stored_in(node) and not any(use.name == name and use.loads for use in uses_in(node))


def _mentions(node: ast.AST, name: str) -> bool:
    return any(use.name == name for use in uses_in(node))


def _head_mentions(node: ast.stmt, name: str) -> bool:
    return any(_mentions(ast.Expr(child), name) for child in children(node) if isinstance(child, ast.expr)) or any(
        _mentions(item, name) for item in getattr(node, "items", ())
    )


def _deletes(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and isinstance(each.ctx, ast.Del) and each.id == name for each in walk(node))


def _is_bound_otherwise(scope: ast.AST, name: str) -> bool:
    """Whether the name is an argument, import, definition, caught exception or capture too, or a closure's."""
    if any(use.inner for use in uses_in(scope) if use.name == name):
        return True
    names = ("arg", "name", "asname", "rest")
    others = (node for node in walk(scope) if not isinstance(node, ast.keyword))
    return any(getattr(node, each, None) == name for node in others for each in names)
