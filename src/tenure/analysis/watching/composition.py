"""What memory was made of by role: at the peak where a census saw one, and from census to census."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.model.outlook import CarriedIntoForward, StepPeak
from tenure.model.recording import OUT_OF_MEMORY, PEAK, CensusEntry, is_within_step

FORWARD_ENTRY = "forward-entry"
EXPECTED = frozenset({"parameter", "buffer", "gradient", "optimizer_state", "input"})
"""Roles of what a forward begins with; all else was carried over from the step before."""


def bytes_by_role(entries: Sequence[CensusEntry]) -> tuple[tuple[int, dict[str, int]], ...]:
    """Step and bytes of each role, for the censuses between steps that say it, in order."""
    return tuple(
        (entry.step, entry.bytes_by_role)
        for entry in entries
        if entry.bytes_by_role and not is_within_step(entry.moment)
    )


def at_the_peak(entries: Sequence[CensusEntry]) -> tuple[int, dict[str, int]] | None:
    """Step and bytes by role of the heaviest census taken within a step, at its peak; None where there is none."""
    peaks = [entry for entry in entries if entry.moment == PEAK and entry.bytes_by_role]
    if not peaks:
        return None
    heaviest = max(peaks, key=lambda entry: sum(entry.bytes_by_role.values()))
    return heaviest.step, heaviest.bytes_by_role


def where_memory_ran_out(entries: Sequence[CensusEntry]) -> StepPeak | None:
    """The first census taken where it did; None where there is none."""
    first = next((entry for entry in entries if entry.moment == OUT_OF_MEMORY), None)
    return None if first is None else StepPeak(first.step, None, first.bytes_by_role)


def carried_into_forward(entries: Sequence[CensusEntry]) -> CarriedIntoForward | None:
    """By the last census at a forward's entry; None where there is none."""
    told = [entry for entry in entries if entry.moment == FORWARD_ENTRY and any(entry.bytes_by_role.values())]
    if not told:
        return None
    sizes = told[-1].bytes_by_role
    carried = sum(size for role, size in sizes.items() if role not in EXPECTED)
    return CarriedIntoForward(told[-1].step, carried, carried / sum(sizes.values()))
