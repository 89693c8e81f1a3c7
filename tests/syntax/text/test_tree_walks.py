"""Tests of the way down syntax trees."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.syntax.text.slim_trees import slim
from tenure.syntax.text.tree_walks import children, walk

_NO_PLACES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_ALL_FORMS = """
import a as b, c
from d import e as f
def plain(x, /, y: int = 1, *rest, key, other=2, **more) -> str:
    global g
    nonlocal h
async def later():
    async for x in y: await z
    async with x as y: yield
class C(B, metaclass=M):
    @p
    def q(self): return {**a, b: c}, [*d], {e for f in g if h}, f"{i!r:>{j}}"
match x:
    case [1, *rest] | {"k": v, **others} | P(a, b=c) | None if y: pass
    case _: del z
try: raise E from None
except (F, G) as h: assert i, j
else: k: int = 3
finally: l += m if not n else -o
while p and q or r: s[t:u, ::v] = lambda w: (x := w)
for y in z: continue
"""


def _as_ast_tells(node: ast.AST) -> list[ast.AST]:
    return [each for each in ast.iter_child_nodes(node) if not isinstance(each, _NO_PLACES)]


@pytest.mark.parametrize("text", [_ALL_FORMS, inspect.getsource(ast), Path(__file__).read_text()])
@pytest.mark.parametrize("made", [lambda tree: tree, slim], ids=["parsed", "slim"])
def test_children_are_those_that_ast_tells_but_contexts_and_operators(
    text: str, made: Callable[[ast.Module], ast.Module]
) -> None:
    tree = made(ast.parse(text))

    told = {node: children(node) for node in ast.walk(tree)}

    assert told == {node: _as_ast_tells(node) for node in told}
    assert len(told) > 100


def test_a_walk_goes_level_by_level() -> None:
    tree = ast.parse(_ALL_FORMS)

    assert list(walk(tree)) == [node for node in ast.walk(tree) if not isinstance(node, _NO_PLACES)]
