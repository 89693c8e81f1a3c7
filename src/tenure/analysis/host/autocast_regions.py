"""Where the program begins the region whose cache of casts it is that keeps memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tenure.analysis.host.system_growth import find_makers
from tenure.model.recording import AUTOCAST_CACHE
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference, Suspect


def by_the_region(suspects: Iterable[Suspect], sources: Mapping[str, SourceFile]) -> tuple[Suspect, ...]:
    """The suspects; what only autocast's cache holds goes by the program's calls that begin such a region."""
    found = tuple(suspects)
    if not any(_is_cached(each) for each in found):
        return found
    made = tuple(dict.fromkeys(find_makers("autocast", "", "", sources)))
    name = made[0][1] if made else "autocast"
    holder = HoldingReference(kind="unknown", name=name, expression=name, sites=tuple(site for site, _ in made))
    return tuple(
        replace(each, holder=holder, cut=(holder,), ambiguous=len(made) > 1) if _is_cached(each) else each
        for each in found
    )


def _is_cached(suspect: Suspect) -> bool:
    return bool(suspect.path) and suspect.path[0].source_name == AUTOCAST_CACHE
