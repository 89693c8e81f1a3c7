"""Where the program begins the region whose cache of casts it is that keeps memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tenure.analysis.host.system_growth import find_makers, made_by
from tenure.model.recording import AUTOCAST_CACHE
from tenure.model.source import SourceFile
from tenure.model.suspect import Suspect


def by_the_region(suspects: Iterable[Suspect], sources: Mapping[str, SourceFile]) -> tuple[Suspect, ...]:
    """The suspects; what only autocast's cache holds goes by the program's calls that begin such a region."""
    found = tuple(suspects)
    if not any(_is_cached(each) for each in found):
        return found
    holder = made_by(find_makers("autocast", "", "", sources), otherwise="autocast")
    return tuple(
        replace(each, holder=holder, cut=(holder,), ambiguous=len(holder.sites) > 1) if _is_cached(each) else each
        for each in found
    )


def _is_cached(suspect: Suspect) -> bool:
    return bool(suspect.path) and suspect.path[0].source_name == AUTOCAST_CACHE
