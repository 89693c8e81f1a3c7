"""Whether a program ever asks its objects for a field, and where, as far as the text of its files tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.mentions import mentions, spellings
from tenure.syntax.text.scopes import definitions, parse
from tenure.syntax.text.tree_walks import walk

_ALL_AT_ONCE = ("asdict", "astuple", "vars(", "fields(", "__dict__", "__getattr", "getattr(", "attrgetter", "pickle")
"""With these an object's fields are read without their names; `getattr` by a name that is made up."""

_OF_ITS_SHAPE = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "numel", "element_size", "is_cuda"})


def may_read_field(source: SourceFile, name: str, *, made_by: frozenset[str] = frozenset()) -> bool:
    """Whether an expression of the file has the value of some `x.name`, a text or a pattern is that name, or fields are
    read all at once; True where the file cannot be parsed.

    What `__init__` of the classes `made_by` reads of its own object it reads while that is made, and never again.
    """
    if _may_read_without_name(source, name):
        return True
    loads = _loads(source, name)
    while_made = {node for each in made_by for node in _read_while_made(source, each)} if loads else set()
    return any(each not in while_made for each in loads)


def lines_that_read(source: SourceFile, name: str) -> tuple[int, ...] | None:
    """Lines of the file on which some `x.name` is asked for more than its shape, type or length; None where it may be
    read on others, too."""
    if _may_read_without_name(source, name):
        return None
    measured = _reads_of(source).measured if _is_named(source, name) else frozenset()
    return tuple(sorted({each.lineno for each in _loads(source, name) if each not in measured}))


@dataclass(frozen=True)
class _Reads:
    """What a file reads of objects: loads of attributes by their names, those that ask for a shape, type or length
    alone, texts and names in patterns, and whether a pattern takes an object's fields by their places."""

    loads: Mapping[str, Sequence[ast.Attribute]]
    measured: frozenset[ast.AST]
    texts: frozenset[str]
    by_place: bool
    makers: Sequence[ast.FunctionDef]
    """All that are called `__init__`."""


@lru_cache(maxsize=512)
def _reads_of(source: SourceFile) -> _Reads:
    """One walk through a file. Raises SourceError as `parse` does."""
    loads: dict[str, list[ast.Attribute]] = {}
    measured: set[ast.AST] = set()
    texts: set[str] = set()
    makers: list[ast.FunctionDef] = []
    by_place = False
    for node in walk(parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            loads.setdefault(node.attr, []).append(node)
            measured.update([node.value] if node.attr in _OF_ITS_SHAPE else ())
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            loads.setdefault(node.target.attr, []).append(node.target)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            measured.update(node.args)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.MatchClass):
            texts.update(node.kwd_attrs)
            by_place |= bool(node.patterns)
        elif isinstance(node, ast.FunctionDef) and node.name == "__init__":
            makers.append(node)
    return _Reads(loads, frozenset(measured), frozenset(texts), by_place, makers)


def _may_read_without_name(source: SourceFile, name: str) -> bool:
    if any(mentions(source, word) for word in _ALL_AT_ONCE):
        return True
    if not _is_named(source, name) and not mentions(source, "case "):
        return False
    try:
        reads = _reads_of(source)
    except SourceError:
        return True
    return reads.by_place or any(each in reads.texts for each in spellings(name))


def _is_named(source: SourceFile, name: str) -> bool:
    return any(mentions(source, each) for each in spellings(name))


def _loads(source: SourceFile, name: str) -> list[ast.Attribute]:
    if not _is_named(source, name):
        return []
    return [node for each in spellings(name) for node in _reads_of(source).loads.get(each, ())]


def _read_while_made(source: SourceFile, class_name: str) -> Iterator[ast.Attribute]:
    """The attributes of its first argument that a class's `__init__` names in its own statements; a function inside of
    it may run later."""
    lines = {scope.line for scope in definitions(source) if scope.qualname == f"{class_name}.__init__"}
    for makes in (each for each in _reads_of(source).makers if each.lineno in lines):
        arguments = (*makes.args.posonlyargs, *makes.args.args)
        if arguments:
            yield from _attributes_of(arguments[0].arg, makes.body)


def _attributes_of(name: str, body: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)):
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node
        waiting += ast.iter_child_nodes(node)
