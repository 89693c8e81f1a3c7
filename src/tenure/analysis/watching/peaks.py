"""The peak of single steps, where it is known, and what an unstable peak is made of: the batch, and what was carried.

The allocator's own peak is that since the program's start, so a step's peak is known where it is a new highest, and
where a census was taken within the step at it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, counter_series
from tenure.analysis.watching.robust import theil_sen
from tenure.analysis.watching.step_phases import phase_of_peak
from tenure.model.outlook import PeakShares, StepPeak
from tenure.model.recording import PEAK, CensusEntry, Step

FEWEST_PEAKS = 5
SAFETY_STEPS = 3
"""Steps at the start whose peaks are those of making state and tuning kernels."""
UNSTABLE = 0.01
"""Of the highest peak: peaks that differ by less are told of together."""
MOST_TOLD = 20


def find_peaks(steps: Sequence[Step], censuses: Sequence[CensusEntry]) -> tuple[StepPeak, ...]:
    """The peaks that are known, by step, the last `MOST_TOLD` of those that the allocator tells.

    Bytes by role are those of a census at the step's peak: tensors alone, which is less than the allocator has.
    """
    at, values = new_highest(steps)
    told = {int(step): int(value) for step, value in zip(at[-MOST_TOLD:], values[-MOST_TOLD:], strict=True)}
    roles = {entry.step: entry.bytes_by_role for entry in censuses if entry.moment == PEAK and entry.bytes_by_role}
    return tuple(
        StepPeak(step, told.get(step), roles.get(step), phase_of_peak(steps, step) if step in told else None)
        for step in sorted(told.keys() | roles.keys())
    )


def find_peak_shares(steps: Sequence[Step]) -> PeakShares | None:
    """What made the known peaks differ; None below five of them with input and carried memory, or where they do not.

    Memory that was allocated at the end of the step before lies in the peak byte by byte. What the peak has beyond it
    is laid over the input's elements (Theil-Sen). Each share is a covariance with the peaks over their variance, so
    the three make up 1; one may be negative where it falls as peaks rise.
    """
    at, peaks = new_highest(steps)
    sizes = _at(at, *counter_series(steps, "input_elements"))
    carried = _at(at - 1, *counter_series(steps, "allocated_bytes"))
    known = (at > SAFETY_STEPS) & ~np.isnan(sizes) & ~np.isnan(carried)
    sizes, carried, highest = sizes[known], carried[known], peaks[known]
    if len(highest) < FEWEST_PEAKS or np.ptp(highest) <= UNSTABLE * highest.max():
        return None
    made = highest - carried
    order = np.argsort(sizes, kind="stable")
    each = theil_sen(sizes[order], made[order]) if np.ptp(sizes) else 0.0
    of_batch, of_carried = _share(each * sizes, highest), _share(carried, highest)
    return PeakShares(of_batch, of_carried, 1.0 - of_batch - of_carried, each, len(highest))


def new_highest(steps: Sequence[Step]) -> tuple[Numbers, Numbers]:
    """Steps that set a new highest peak, and these peaks; those that quick steps did not count are not known."""
    at, peaks = counter_series(steps, "allocated_peak_bytes")
    rose = np.flatnonzero(np.diff(peaks) > 0) + 1
    next_to_it = at[rose] - at[rose - 1] == 1
    return at[rose][next_to_it], peaks[rose][next_to_it]


def _at(wanted: Numbers, steps: Numbers, values: Numbers) -> Numbers:
    """The values at the wanted steps; NaN where a step has none."""
    if not len(steps):
        return np.full(len(wanted), np.nan)
    place = np.minimum(np.searchsorted(steps, wanted), len(steps) - 1)
    return np.where(steps[place] == wanted, values[place], np.nan)


def _share(part: Numbers, whole: Numbers) -> float:
    return float(np.cov(part, whole)[0, 1] / np.var(whole, ddof=1))
