"""Calls that add attributes under computed names: `setattr(space, f"kept{step}", x)`, `register_buffer(key, x)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.bindings import Binding

GAINS_NAMES = "gains_names"
"""Fact of a suspect whose memory an object holds by attributes of which every step adds another."""


def by_the_statement_that_adds_names(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect, told by the call that adds the names instead of by the variable for the object; the suspect
    itself where its object gains none, or no such call is seen."""
    if not suspect.facts.get(GAINS_NAMES):
        return suspect
    found = {
        (path, binding.line): binding
        for path, source in sources.items()
        if source.origin == "yours"
        for binding in bindings_of(source)
        if binding.sets_computed_name
    }
    by_name = {at: each for at, each in found.items() if _last(each.receiver) == _last(suspect.holder.name)}
    by_self = {at: each for at, each in found.items() if each.on_self}
    chosen = by_name or by_self or found
    if not chosen:
        return suspect
    (path, line), binding = next(iter(chosen.items()))
    holder = _as_holder(suspect.holder, path, line, binding)
    return replace(suspect, holder=holder, cut=(holder,), ambiguous=len(chosen) > 1)


def _as_holder(holder: HoldingReference, path: str, line: int, binding: Binding) -> HoldingReference:
    return replace(
        holder,
        kind="attribute",
        name=_last(binding.receiver) or binding.method,
        expression=f"{holder.expression}.*",
        element=True,
        sites=(SourceLocation(path, line, binding.function),),
    )


def _last(name: str) -> str:
    return name.rpartition(".")[2]
