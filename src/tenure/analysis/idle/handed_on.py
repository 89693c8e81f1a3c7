"""Variables that no operation uses any more at the peak, and that their function returns all the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tenure.model.source import SourceFile
from tenure.model.suspect import HANDED_ON, HoldingReference, Suspect
from tenure.syntax.text.later_reads import is_handed_on


def told_with_what_is_handed_on(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect, with the names of such variables among those that are to be dropped: `del` would break the program,
    and whoever is given them may need them in another step."""
    if not suspect.facts.get("idle_at_peak"):
        return suspect
    names = tuple(dict.fromkeys(each.name for each in suspect.cut if _is_handed_on(each, sources)))
    return replace(suspect, facts=suspect.facts | {HANDED_ON: names}) if names else suspect


def _is_handed_on(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> bool:
    source = sources.get(reference.scope_file)
    if reference.kind != "local" or source is None or not reference.scope_line:
        return False
    return is_handed_on(source, reference.scope_function, reference.name, reference.scope_line)
