"""Memory of the host, owned by no tensor, that grows with the steps: buffers, text, tables of small things."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tenure.analysis.growth.growing import find_growing
from tenure.analysis.heap.groups import Shapes, View
from tenure.model.suspect import Suspect

LEAST_BYTES_PER_STEP = 1024
"""Every loop notes a few numbers per step: what grows slower than this takes a million steps to a gigabyte."""
LEAST_GROWTH_BYTES = 128 * 1024
"""So much must have come since the first census after warm-up."""


def find_host_growth(views: Sequence[View], shapes: Shapes) -> tuple[Suspect, ...]:
    """Suspects of growth on the device "host"; `views` are of `host_part`s of the censuses of one moment.

    What rises and falls is none: the host has room for a log between two writes.
    """
    suspects, _ = find_growing(views, shapes, by_element=True)
    return tuple(
        dataclasses.replace(suspect, facts={**suspect.facts, "host_type": _type_of(suspect)})
        for suspect in suspects
        if suspect.symptom == "growth" and _matters(suspect)
    )


def _matters(suspect: Suspect) -> bool:
    sizes = suspect.series.bytes
    grown = sizes[-1] - min(sizes)
    return (suspect.growth_bytes_per_step or 0) >= LEAST_BYTES_PER_STEP and grown >= LEAST_GROWTH_BYTES


def _type_of(suspect: Suspect) -> str:
    """The type of what is held: `bytes`, `ndarray`."""
    return suspect.path[-2].target_type.rpartition(".")[2] if len(suspect.path) > 1 else ""
