"""A function of the user's that a library's table keeps, by its own definition: `@trainer.on(Events.COMPLETED)` above a
`def` hands it over, and the statement that stores it is the library's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile

from tenure.analysis.sites.site_search import place_at
from tenure.model.source import SourceFile
from tenure.model.suspect import ELEMENT_HOPS, HoldingReference, Suspect

_NESTED = ".<locals>."
_FUNCTION = "function"


def by_the_function_that_is_kept(
    holder: HoldingReference, suspect: Suspect, sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """The holder as a hook, named by the first function on the suspect's path and placed at its `def`, where elements
    come to a library's container by a library's statement, and the function is defined anew by each run of another:
    what it closes over comes with it. As it is otherwise."""
    inside = sources.get(holder.sites[0].file) if holder.sites else None
    by_library = inside is not None and inside.origin != "yours" and holder.element
    if not suspect.grows or not (by_library or _is_of_functions_in_a_library(holder, suspect)):
        return holder
    kept = next((hop for hop in suspect.path if hop.source_type == _FUNCTION), None)
    source = sources.get(kept.file) if kept is not None else None
    if kept is None or source is None or source.origin != "yours" or _NESTED not in kept.source_name:
        return holder
    site = place_at(source, kept.line)
    found = replace(holder, kind="hook", name=kept.source_name.rpartition(_NESTED)[2], sites=(site,))
    if by_library:
        return replace(found, library_sites=holder.sites[:1])
    table = next(hop for hop in suspect.path if hop.kind in ELEMENT_HOPS)
    return replace(found, expression=_table_of(suspect), calls=kept.source_name, inside=table.source_type)


def _table_of(suspect: Suspect) -> str:
    """The library's container by names, `engine._event_handlers[*]`."""
    names = takewhile(lambda hop: hop.kind not in ELEMENT_HOPS, suspect.path)
    return ".".join(hop.label for hop in names if hop.kind != "DICT") + "[*]"


def _is_of_functions_in_a_library(holder: HoldingReference, suspect: Suspect) -> bool:
    """Whether the holder is the variable that each of ever more functions in a library's container closes over."""
    before = takewhile(lambda hop: hop.source_type != _FUNCTION, suspect.path)
    elements = [hop for hop in before if hop.kind in ELEMENT_HOPS]
    gains = bool(suspect.growth_objects_per_step) and holder.kind == "closure"
    return gains and bool(elements) and not any(hop.user for hop in elements)
