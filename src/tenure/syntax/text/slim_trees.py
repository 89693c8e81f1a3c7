"""Syntax trees that take about half the memory: the eight commonest kinds without a dictionary each.

CPython gives every node a dictionary with room for thirty attributes, some 400 bytes for a name. The classes here are
kinds of those of `ast`, have the same names, and fixed places for what a parsed node has.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tenure.syntax.text.tree_walks import FIELDS

_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class Name(ast.Name):
    """`x`."""

    __slots__ = ("ctx", "id", *_PLACE)

    def __init__(self, node: ast.Name) -> None:
        self.id = node.id
        self.ctx = node.ctx
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class Constant(ast.Constant):
    """`1`."""

    __slots__ = ("kind", "value", *_PLACE)

    def __init__(self, node: ast.Constant) -> None:
        self.value = node.value
        self.kind = node.kind
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class Attribute(ast.Attribute):
    """`x.y`."""

    __slots__ = ("attr", "ctx", "value", *_PLACE)

    def __init__(self, node: ast.Attribute) -> None:
        self.value = node.value
        self.attr = node.attr
        self.ctx = node.ctx
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class Call(ast.Call):
    """`f(x)`."""

    __slots__ = ("args", "func", "keywords", *_PLACE)

    def __init__(self, node: ast.Call) -> None:
        self.func = node.func
        self.args = node.args
        self.keywords = node.keywords
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class keyword(ast.keyword):  # noqa: N801 - `ast.unparse` goes by the names of classes
    """`y=x` of a call."""

    __slots__ = ("arg", "value", *_PLACE)

    def __init__(self, node: ast.keyword) -> None:
        self.arg = node.arg
        self.value = node.value
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class Subscript(ast.Subscript):
    """`x[y]`."""

    __slots__ = ("ctx", "slice", "value", *_PLACE)

    def __init__(self, node: ast.Subscript) -> None:
        self.value = node.value
        self.slice = node.slice
        self.ctx = node.ctx
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class BinOp(ast.BinOp):
    """`x + y`."""

    __slots__ = ("left", "op", "right", *_PLACE)

    def __init__(self, node: ast.BinOp) -> None:
        self.left = node.left
        self.op = node.op
        self.right = node.right
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


class arg(ast.arg):  # noqa: N801 - as above
    """`x: y` of a function's parameters."""

    __slots__ = ("annotation", "arg", "type_comment", *_PLACE)

    def __init__(self, node: ast.arg) -> None:
        self.arg = node.arg
        self.annotation = node.annotation
        self.type_comment = node.type_comment
        self.lineno = line = node.lineno
        self.col_offset = node.col_offset
        self.end_lineno = line if node.end_lineno == line else node.end_lineno
        self.end_col_offset = node.end_col_offset


def slim(tree: ast.Module) -> ast.Module:
    """The same tree with such nodes in the place of the parser's. Costs half as long as parsing takes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for name in FIELDS[type(node)]:
            inside = getattr(node, name, None)
            if type(inside) is list:
                for at, each in enumerate(inside):
                    make = SLIM.get(type(each))
                    if make is not None:
                        each = inside[at] = make(each)
                    if type(each) not in _LEAVES:
                        waiting.append(each)
            elif inside is not None:
                make = SLIM.get(type(inside))
                if make is not None:
                    inside = make(inside)
                    setattr(node, name, inside)
                if type(inside) not in _LEAVES:
                    waiting.append(inside)
    return tree


_LEAVES = frozenset({Name, Constant, ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom, type(None)})
SLIM: dict[type, Callable[..., ast.AST]] = {
    ast.Name: Name,
    ast.Constant: Constant,
    ast.Attribute: Attribute,
    ast.Call: Call,
    ast.keyword: keyword,
    ast.Subscript: Subscript,
    ast.BinOp: BinOp,
    ast.arg: arg,
}
