"""Pinned memory of the host that grows with the steps, by the counters of torch's own allocator for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.analysis.host.native_growth import EXPLAINED_SHARE, find_rise, suspect_of_rise
from tenure.analysis.host.system_growth import find_makers, made_by
from tenure.model.recording import Step
from tenure.model.source import SourceFile
from tenure.model.suspect import Suspect

PINNED, ACTIVE = "pinned_bytes", "pinned_active_bytes"


def find_pinned_growth(
    steps: Sequence[Step], explained_bytes_per_step: float, sources: Mapping[str, SourceFile]
) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "host", where findings on tensors of the host explain less than half of it.

    Its fact `pinned_in_use` says whether the blocks are in use: else sizes differ, and each new one is a new block.
    None where the torch that was watched does not count it.
    """
    rise = find_rise(steps, PINNED)
    if rise is None or explained_bytes_per_step >= EXPLAINED_SHARE * rise.per_step:
        return ()
    holder = made_by(find_makers("pinned", "", "", sources), otherwise="pinned memory")
    facts: dict[str, object] = {"pinned_in_use": _is_in_use(steps, rise.per_step)}
    return (suspect_of_rise(rise, holder, "pinned memory", facts),)


def _is_in_use(steps: Sequence[Step], growth_per_step: float) -> bool | None:
    if not any(ACTIVE in step.counters for step in steps):
        return None
    in_use = find_rise(steps, ACTIVE)
    return in_use is not None and in_use.per_step >= EXPLAINED_SHARE * growth_per_step
