"""What idles in a batch that a library's own functions hand on, by the entry and the statement that puts it there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.heap.graph import unquoted
from tenure.analysis.sites.site_search import bindings_of, is_yours
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect


def by_the_entry(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where a library's variables and attributes alone are to be dropped, for one entry of the dict that
    they all stand for, told and dropped by that entry, if the program itself stores under its key: nobody drops a
    trainer's variables, `del batch["video"]` is the user's."""
    entry = suspect.path[1] if len(suspect.path) > 1 else None
    if suspect.symptom != "peak" or suspect.through_graph or entry is None or entry.kind != "ITEM":
        return suspect
    name, place = unquoted(entry.label), f"{suspect.path[0].label}[{entry.label}]"
    if not name.isidentifier() or any(is_yours(each.sites, sources) for each in (suspect.holder, *suspect.cut)):
        return suspect
    sites = tuple(_stores_under(name, sources))
    if not sites:
        return suspect
    holder = HoldingReference("item", name, place, owner_type=entry.source_type, sites=sites)
    return replace(suspect, holder=holder, cut=(holder,), holder_is_yours=True, ambiguous=len(sites) > 1)


def _stores_under(key: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """`sample["video"] = x` in the program's own files."""
    for source in sources.values():
        if source.origin == "yours" and key in source.text:
            stores = (each for each in bindings_of(source) if each.kind == "item" and unquoted(each.key) == key)
            yield from (SourceLocation(source.path, each.line, each.function) for each in stores)
