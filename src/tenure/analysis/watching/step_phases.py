"""What counters are at the ends of a step's phases, in the steps that were read there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tenure.analysis.watching.counter_series import counter_series
from tenure.analysis.watching.phases import BASELINE_SHARE
from tenure.model.outlook import StepPhase
from tenure.model.recording import Step
from tenure.model.step_phases import NAMES_IN_PHASES, OPTIMIZER, PEAK, PHASE_COUNTERS, PHASES

LATELY = 20
"""Steps that were read within last: the median of these is what is told first."""


def read_step_phases(steps: Sequence[Step]) -> tuple[StepPhase, ...]:
    """Counter by counter the phases that were read, in the order of a step; empty where none was."""
    return tuple(phase for counter in PHASE_COUNTERS for phase in _phases(steps, counter))


def _phases(steps: Sequence[Step], counter: str) -> Iterator[StepPhase]:
    rows = {phase: counter_series(steps, NAMES_IN_PHASES[phase, counter]) for phase in PHASES}
    within = np.unique(np.concatenate([at for at, _ in rows.values()]))
    if not len(within):
        return
    at, values = counter_series(steps, counter)
    ends = np.isin(at, within)
    rows[OPTIMIZER] = at[ends], values[ends]
    for phase, (at, values) in rows.items():
        if len(values):
            late = values[at >= within[-LATELY:][0]]
            yield StepPhase(
                counter=counter,
                phase=phase,
                lately_bytes=int(np.median(late if len(late) else values[-1:])),
                baseline_bytes=int(np.quantile(values, BASELINE_SHARE)),
                highest_bytes=int(values.max()),
                num_steps=len(values),
                last_step=int(at[-1]),
            )


def phase_of_peak(steps: Sequence[Step], step: int) -> str | None:
    """In which phase of the step the allocator's peak rose last; None where its phases were not read.

    Where they were, and it rose in none of them, it did in the optimizer's step.
    """
    rose = [(value, phase) for phase in PHASES if (value := _value_at(steps, phase, PEAK, step)) is not None]
    if rose:
        return max(rose)[1]
    read = [_value_at(steps, phase, "allocated_bytes", step) for phase in PHASES]
    return OPTIMIZER if sum(value is not None for value in read) > 1 else None


def _value_at(steps: Sequence[Step], phase: str, counter: str, step: int) -> int | None:
    at, values = counter_series(steps, NAMES_IN_PHASES[phase, counter])
    place = int(np.searchsorted(at, step))
    return int(values[place]) if place < len(at) and at[place] == step else None
