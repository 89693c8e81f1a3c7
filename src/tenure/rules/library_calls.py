"""Calls by which a library's own object lets go of what it keeps for the program."""

from __future__ import annotations

import dataclasses

from tenure.analysis.sites.library_calls import owner_of
from tenure.model.finding import Finding, Remedy
from tenure.model.suspect import Suspect

_CALLS = {
    "accelerate.accelerator.Accelerator": "`{owner}.free_memory(model, optimizer)` when they are done with: it empties "
    "the tables of all that was prepared and returns a None for each name to be bound to",
}
"""By the type of the object that has the table; checked against the library's source."""


def with_library_call(finding: Finding, suspect: Suspect) -> Finding:
    """The finding, with the call of the library that gives the memory back as the first remedy, where one is known."""
    known = _CALLS.get(suspect.holder.owner_type)
    owner = owner_of(suspect.holder)
    if known is None or not owner:
        return finding
    return dataclasses.replace(finding, remedies=(Remedy(known.format(owner=owner)), *finding.remedies))
