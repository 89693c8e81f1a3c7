"""Whether a program ever asks its objects for a field, and where, as far as the text of its files tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import definitions, parse

_ALL_AT_ONCE = ("asdict", "astuple", "vars(", "fields(", "__dict__", "__getattr", "getattr(", "attrgetter", "pickle")
"""With these an object's fields are read without their names; `getattr` by a name that is made up."""

_OF_ITS_SHAPE = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "numel", "element_size", "is_cuda"})


@lru_cache(maxsize=4096)
def may_read_field(source: SourceFile, name: str, *, made_by: frozenset[str] = frozenset()) -> bool:
    """Whether an expression of the file has the value of some `x.name`, a text or a pattern is that name, or fields are
    read all at once; True where the file cannot be parsed.

    What `__init__` of the classes `made_by` reads of its own object it reads while that is made, and never again.
    """
    if _may_read_without_name(source, name):
        return True
    while_made = {node for each in made_by for node in _read_while_made(source, each)}
    return any(each not in while_made for each in _loads(source, name))


@lru_cache(maxsize=1024)
def lines_that_read(source: SourceFile, name: str) -> tuple[int, ...] | None:
    """Lines of the file on which some `x.name` is asked for more than its shape, type or length; None where it may be
    read on others, too."""
    if _may_read_without_name(source, name):
        return None
    loads = _loads(source, name)
    measured = {id(node) for node in _measured(source)} if loads else set()
    return tuple(sorted({each.lineno for each in loads if id(each) not in measured}))


def _may_read_without_name(source: SourceFile, name: str) -> bool:
    if any(mentions(source, word) for word in _ALL_AT_ONCE):
        return True
    if not mentions(source, name):
        return False
    try:
        parse(source)
    except SourceError:
        return True
    return any(each.value == name for each in nodes_of(source, ast.Constant)) or any(nodes_of(source, ast.MatchClass))


def _loads(source: SourceFile, name: str) -> list[ast.Attribute]:
    if not mentions(source, name):
        return []
    return [each for each in nodes_of(source, ast.Attribute) if each.attr == name and isinstance(each.ctx, ast.Load)]


def _measured(source: SourceFile) -> Iterator[ast.expr]:
    """What is asked for its shape, type or length alone."""
    yield from (each.value for each in nodes_of(source, ast.Attribute) if each.attr in _OF_ITS_SHAPE)
    for call in nodes_of(source, ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "len":
            yield from call.args


def _read_while_made(source: SourceFile, class_name: str) -> frozenset[ast.Attribute]:
    """The attributes of its first argument that a class's `__init__` names in its own statements; a function inside of
    it may run later."""
    lines = {scope.line for scope in definitions(source) if scope.qualname == f"{class_name}.__init__"}
    found: set[ast.Attribute] = set()
    for makes in nodes_of(source, ast.FunctionDef):
        arguments = (*makes.args.posonlyargs, *makes.args.args)
        if makes.lineno in lines and arguments:
            found.update(_attributes_of(arguments[0].arg, makes.body))
    return frozenset(found)


def _attributes_of(name: str, body: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)):
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node
        waiting += ast.iter_child_nodes(node)
