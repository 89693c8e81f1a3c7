"""Slim trees say what the parser's say, and are taken for them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tenure.syntax.text import scopes
from tenure.syntax.text.slim_trees import slim

TEXTS = {
    "expressions": "a.b[c:1, ...](*d, e=f, **{g: h})[0] = lambda x=1, *y, z: (x if y else -z,"
    " f'{x!r:>{y}}', b'', 'é')\n",
    "statements": "async def f(a: int = 1, *b: 'c', d, **e) -> 'g':\n    global h\n    async with x as (y, [*z]):\n"
    "        return await y\n    match a:\n"
    "        case C(b=1, c=[2, *_]): pass\n        case {'k': v, **r} if v: pass\n",
    "this file": Path(__file__).read_text(encoding="utf-8"),
    "a large one": Path(scopes.__file__).read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_nodes_fields_and_places_are_the_parsers(text: str) -> None:
    plain, slimmed = ast.parse(text), slim(ast.parse(text))

    assert [described(node) for node in ast.walk(slimmed)] == [described(node) for node in ast.walk(plain)]
    assert ast.unparse(slimmed) == ast.unparse(plain)
    assert compile(slimmed, "t", "exec").co_code == compile(plain, "t", "exec").co_code


def test_the_commonest_nodes_have_no_dictionary_of_their_own() -> None:
    (statement,) = slim(ast.parse("f(x.y[1] + 2, z=1)")).body
    assert isinstance(statement, ast.Expr)

    nodes = [node for node in ast.walk(statement.value) if hasattr(node, "lineno")]

    assert sorted(type(node).__name__ for node in nodes) == [
        *("Attribute", "BinOp", "Call", "Constant", "Constant", "Constant", "Name", "Name", "Subscript", "keyword")
    ]
    assert [node for node in nodes if vars(node)] == []


def described(node: ast.AST) -> tuple[object, ...]:
    """A node without the nodes in it."""
    own = [(name, value) for name, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]
    places = [getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")]
    return type(node).__name__, own, places
