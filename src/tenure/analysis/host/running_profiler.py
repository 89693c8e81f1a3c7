"""A profiler of torch's that records step after step: it keeps each event in the host's memory until it stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.analysis.host.native_growth import find_rise, suspect_of_rise
from tenure.analysis.host.system_growth import find_makers, made_by
from tenure.model.recording import PROFILER_RUNS, Step
from tenure.model.source import SourceFile
from tenure.model.suspect import Suspect


def find_profiler_growth(
    steps: Sequence[Step], explained_bytes_per_step: float, sources: Mapping[str, SourceFile]
) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "host": the process grows by more than findings explain, and a profiler recorded
    in each step that was measured after warm-up, as one without a schedule does."""
    rise = find_rise(steps, known=True)
    if rise is None or explained_bytes_per_step > rise.per_step / 2:
        return ()
    first = rise.points[0][0]
    if not all(PROFILER_RUNS in step.counters for step in steps if step.step >= first and step.counters):
        return ()
    holder = made_by(find_makers("profiler", "", "", sources), otherwise="profile")
    return (suspect_of_rise(rise, holder, "a profiler that records every step", {PROFILER_RUNS: True}),)
