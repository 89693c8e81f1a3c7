"""Entries of what a library has, a batch that its functions hand on or a table of modules, by the statement of the
program's own that puts them there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.heap.graph import unquoted
from tenure.analysis.sites.site_search import ITEM_NAME, bindings_of, is_yours, place_at
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.file_nodes import nodes_in


def by_the_entry(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where a library's variables and attributes alone are to be dropped, for one entry of the dict that
    they all stand for, told and dropped by that entry, if the program itself stores under its key: nobody drops a
    trainer's variables, `del batch["video"]` is the user's. Of a dict that a library's object has inside, as a graph's
    `batch._store._mapping["distance"]`, by the attribute that the program sets: `del batch.distance`."""
    if suspect.symptom != "peak" or suspect.through_graph:
        return suspect
    path = suspect.path
    at = next((at for at in range(1, len(path)) if path[at].kind == "ITEM" and path[at - 1].kind != "DICT"), 0)
    if not at or any(hop.user for hop in path[1:at]):
        return suspect
    entry, inside, owner = path[at], at > 1, path[0].label
    name = unquoted(entry.label)
    if not name.isidentifier() or any(is_yours(each.sites, sources) for each in (suspect.holder, *suspect.cut)):
        return suspect
    sites = tuple(_sets_attribute(name, sources) if inside else _stores_under(name, sources))
    if not sites:
        return suspect
    kind, place = ("attribute", f"{owner}.{name}") if inside else ("item", f"{owner}[{entry.label}]")
    holder = HoldingReference(kind, name, place, owner_type=entry.source_type, sites=sites)
    return replace(suspect, holder=holder, cut=(holder,), holder_is_yours=True, ambiguous=len(sites) > 1)


def _sets_attribute(name: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """`data.distance = x` in the program's own files, of what is no object's own attribute."""
    for source in _own_files(name, sources):
        sets = (each for each in bindings_of(source) if each.kind == "attribute" and each.name == name)
        yield from (SourceLocation(source.path, each.line, each.function) for each in sets if not each.on_self)


def by_the_dict_that_names_it(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; an entry of a table that a library makes, as of a ModuleDict, or that the program gets somewhere
    without naming it, as with `for batch in batches`, at the program's own one `{"encoder": Encoder(...)}` or
    `modules["encoder"] = ...` that puts it there."""
    holder = suspect.holder
    found = ITEM_NAME.fullmatch(holder.name) if holder.kind == "item" and not suspect.grows else None
    key = unquoted(found[2]) if found else ""
    is_own = is_yours(holder.sites, sources)
    if not key.isidentifier() or (
        is_own and (suspect.symptom != "peak" or _is_named_at(key, holder.sites[0], sources))
    ):
        return suspect
    sites = (*_stores_under(key, sources), *_given_under(key, sources, of_any=is_own))
    if len(sites) != 1:
        return suspect
    told = replace(holder, name=key, sites=sites)
    cut = tuple(told if each == holder else each for each in suspect.cut)
    return replace(suspect, holder=told, cut=cut, holder_is_yours=True, ambiguous=False)


def _is_named_at(key: str, site: SourceLocation, sources: Mapping[str, SourceFile]) -> bool:
    """Whether a line has a word in it."""
    source = sources.get(site.file)
    lines = source.text.split("\n")[site.line - 1 : site.line] if source is not None else []
    return not lines or key in lines[0]


def _given_under(key: str, sources: Mapping[str, SourceFile], *, of_any: bool = False) -> Iterator[SourceLocation]:
    """`{"encoder": Encoder(...)}` in the program's own files, of any kind of value if wanted."""
    for source in _own_files(key, sources):
        for node in (each for each in nodes_in(source) if isinstance(each, ast.Dict)):
            for name, value in zip(node.keys, node.values, strict=True):
                if (
                    isinstance(name, ast.Constant)
                    and name.value == key
                    and (of_any or isinstance(value, (ast.Call, ast.Name)))
                ):
                    yield place_at(source, name.lineno)


def _stores_under(key: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """`sample["video"] = x` in the program's own files."""
    for source in _own_files(key, sources):
        stores = (each for each in bindings_of(source) if each.kind == "item" and unquoted(each.key) == key)
        yield from (SourceLocation(source.path, each.line, each.function) for each in stores)


def _own_files(name: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceFile]:
    return (each for each in sources.values() if each.origin == "yours" and name in each.text)
