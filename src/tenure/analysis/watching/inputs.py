"""The peak of memory as a function of what goes into the model: the largest batch seen, and bytes per element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.analysis.watching.counter_series import Numbers, counter_series
from tenure.analysis.watching.peaks import SAFETY_STEPS, new_highest
from tenure.analysis.watching.robust import theil_sen
from tenure.model.recording import Step

FEWEST_RISES = 5


@dataclass(frozen=True)
class InputEffect:
    """What inputs do to the allocator's peak.

    `bytes_per_element` is told by the steps that set a new peak, for only these are known to the allocator's counter;
    None below five of them. `worst_step` had the largest input of those measured.
    """

    worst_step: int
    worst_elements: int
    longest: int | None
    peak_bytes: int | None
    bytes_per_element: float | None
    explained_share: float | None
    """Of the rise of the peak: what its line over the input's elements follows (the squared correlation)."""


def find_input_effect(steps: Sequence[Step]) -> InputEffect | None:
    """None where no input was measured."""
    at, elements = counter_series(steps, "input_elements")
    if not len(elements):
        return None
    _, longest = counter_series(steps, "input_longest")
    _, peaks = counter_series(steps, "allocated_peak_bytes")
    sizes, rises = _sizes_of_rises(at, elements, steps)
    known = len(rises) >= FEWEST_RISES and len(np.unique(sizes)) > 1
    worst = int(np.argmax(elements))
    return InputEffect(
        worst_step=int(at[worst]),
        worst_elements=int(elements[worst]),
        longest=int(longest.max()) if len(longest) else None,
        peak_bytes=int(peaks[-1]) if len(peaks) else None,
        bytes_per_element=_per_element(sizes, rises) if known else None,
        explained_share=float(np.corrcoef(sizes, rises)[0, 1] ** 2) if known else None,
    )


def _sizes_of_rises(at: Numbers, elements: Numbers, steps: Sequence[Step]) -> tuple[Numbers, Numbers]:
    """Inputs and peaks of the steps that set a new peak and had their input measured."""
    new = {int(step): peak for step, peak in zip(*new_highest(steps), strict=True) if step > SAFETY_STEPS}
    both = [(size, new[int(step)]) for step, size in zip(at, elements, strict=True) if int(step) in new]
    columns = np.array(both, dtype=float).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _per_element(sizes: Numbers, peaks: Numbers) -> float:
    order = np.argsort(sizes, kind="stable")
    return theil_sen(sizes[order], peaks[order])
