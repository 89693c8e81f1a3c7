"""The user's own statement behind a line of a library: `weakref.finalize(engine, flush)` fills a table elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.scopes import enclosing_function, parse
from tenure.syntax.store_calls import GROWING_METHODS

_SAID_OF_MUCH = GROWING_METHODS | {"forward", "step", "run", "get", "set", "start", "backward", "load", "clear", "pop"}
"""Names of methods that so many classes have that a call by one of them tells nothing."""


def by_the_users_call(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """The reference, named by the function of a library that made it and placed at the user's own calls of it.

    As it is where its best statement is the user's already, or where no file of the user's calls that function.
    """
    source = sources.get(reference.sites[0].file) if reference.sites else None
    if source is None or source.origin == "yours":
        return reference
    name = _called_as(reference.sites[0].function)
    calls = tuple(_calls_of(name, sources)) if name else ()
    return replace(reference, name=name, sites=calls) if calls else reference


def _called_as(function: str) -> str:
    """What a caller writes: the class of a constructor, the last name of a public function; "" of any other."""
    owner, _, name = function.rpartition(".")
    if name in ("__init__", "__new__"):
        name = owner.rpartition(".")[2]
    return "" if name.startswith(("_", "<")) or name in _SAID_OF_MUCH else name


def _calls_of(name: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    for source in sources.values():
        if source.origin == "yours" and f"{name}(" in source.text:
            for line in sorted(_lines_of_calls(name, source)):
                yield SourceLocation(source.path, line, enclosing_function(source, line))


def _lines_of_calls(name: str, source: SourceFile) -> set[int]:
    try:
        tree = parse(source)
    except SourceError:
        return set()
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {node.lineno for node in calls if name in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))}
