"""Rings inside of a library's objects: the user's own statements that make these objects, or copies of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import place_at
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_MAKING = ("__init__", "__new__")
_COPYING = ("__setstate__", "__deepcopy__", "__copy__")
_COPIES = frozenset({"deepcopy", "copy", "clone"})


def by_the_call_that_makes(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """The reference of a ring that a library's method closes, placed where the program makes such objects: at calls of
    their class, or at the one statement that copies something of which it uses the ring's attribute after that,
    `scores = template.clone(); scores.compute()`. As it is where there is none."""
    inside = reference.sites[:1]
    source = sources.get(inside[0].file) if inside else None
    if reference.kind != "cycle" or source is None or source.origin == "yours":
        return reference
    method = inside[0].function.rpartition(".")[2]
    yours = [each for each in sources.values() if each.origin == "yours"]
    found: list[tuple[str, SourceLocation]] = []
    if method in _MAKING:
        made = reference.owner_type.rpartition(".")[2]
        found = [(made, place) for each in yours if made in each.text for place in _calls_of(made, each)]
    elif method in _COPYING:
        found = [copy for each in yours if reference.name in each.text for copy in _copies(each, reference.name)]
    if not found or (method in _COPYING and len(found) > 1):
        return reference
    return replace(reference, name=found[0][0], sites=tuple(place for _, place in found), library_sites=inside)


def _calls_of(name: str, source: SourceFile) -> Iterator[SourceLocation]:
    calls = (call for call in nodes_of(source, ast.Call) if called_name(call) == name)
    yield from (place_at(source, call.lineno) for call in calls)


def _copies(source: SourceFile, attribute: str) -> Iterator[tuple[str, SourceLocation]]:
    """Variables that get a copy, and of which the same function uses the attribute."""
    for node in nodes_of(source, ast.Assign):
        name = dotted(node.targets[0]) if len(node.targets) == 1 else ""
        if isinstance(node.value, ast.Call) and called_name(node.value) in _COPIES and name:
            around = walk(function_around(parse(source), [node.lineno]))
            if any(isinstance(each, ast.Attribute) and dotted(each) == f"{name}.{attribute}" for each in around):
                yield name.rpartition(".")[2], place_at(source, node.lineno)
