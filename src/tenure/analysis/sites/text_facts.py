"""What the statement that a suspect is told by says beside the cause, by its text: how its memory may be meant."""

from __future__ import annotations

from collections.abc import Mapping

from tenure.analysis.sites.read_afterwards import comes_seldom, place_that_reads_all
from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import (
    COMPUTED_ONCE,
    FILLED,
    KEPT_SHORT,
    LOOKED_UP,
    MADE_LARGER,
    OF_LOSSES,
    READ_AFTERWARDS,
    READ_IN_TURNS,
    HoldingReference,
    Suspect,
)
from tenure.syntax.text.kept_short import line_that_keeps_short
from tenure.syntax.text.looked_up import is_looked_up
from tenure.syntax.text.made_larger import line_that_asks_for_room
from tenure.syntax.text.scopes import text_around


def facts_of_text(suspect: Suspect, holder: HoldingReference, sources: Mapping[str, SourceFile]) -> dict[str, object]:
    """The facts of the first statement that makes the reference; none where that is not known."""
    site = holder.sites[0] if holder.sites else None
    source = sources.get(site.file) if site is not None else None
    if site is None or source is None:
        return {}
    told: dict[str, object] = {
        KEPT_SHORT: _may_be_kept_short(suspect, holder) and line_that_keeps_short(source, site.line, holder.name),
        MADE_LARGER: _swells_without_graph(suspect) and line_that_asks_for_room(source, site.line),
        LOOKED_UP: bool(suspect.facts.get("keys")) and is_looked_up(source, site.line, holder.name),
        OF_LOSSES: _is_of_losses(suspect, holder, source, site),
        COMPUTED_ONCE: FILLED in suspect.facts and _is_computed_once(source, site),
        READ_AFTERWARDS: place_that_reads_all(suspect, holder, sources),
        READ_IN_TURNS: comes_seldom(suspect) and place_that_reads_all(suspect, holder, sources, in_turns=True),
    }
    return {name: value for name, value in told.items() if value}


def _may_be_kept_short(suspect: Suspect, holder: HoldingReference) -> bool:
    """What growth may come to, and what idles at a peak, as a cache's entries do: until there are enough nothing is
    taken out. What hangs on a graph nobody meant."""
    grows = suspect.symptom == "growth" and holder.element
    idles = suspect.symptom == "peak" and "idle_at_peak" in suspect.facts and holder.kind == "attribute"
    return (grows or idles) and not suspect.through_graph


def _swells_without_graph(suspect: Suspect) -> bool:
    """What swells only where it is too small for what is asked is as large as the largest need so far."""
    return suspect.swells and suspect.symptom == "growth" and not suspect.through_graph


def _is_of_losses(suspect: Suspect, holder: HoldingReference, source: SourceFile, site: SourceLocation) -> bool:
    """Whether an average is made of losses, by the words of its function, or of its own lines in a module; or what is
    collected is called so where it is added."""
    if holder.element:
        return any("loss" in b.value_text.lower() for b in bindings_of(source) if b.line == site.line)
    return "kept_average" in suspect.facts and "loss" in text_around(source, site.line).lower()


def _is_computed_once(source: SourceFile, site: SourceLocation) -> bool:
    """Whether a `cached_property` sets the attribute that one object after the other gets."""
    found = (b for b in bindings_of(source) if b.line == site.line)
    return any(b.kind == "cache" and b.method == "cached_property" for b in found)
