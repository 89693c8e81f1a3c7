"""Places that ask for memory in step after step, and never give it back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from tenure.allocator.call_sites import call_sites
from tenure.allocator.story import Story
from tenure.allocator.torch_frames import Phase
from tenure.model.allocator import Snapshot

_LEAST_STEPS = 3


@dataclass(frozen=True)
class Leak:
    """Blocks that one place asked for in one phase of step after step, all there at the trace's end.

    `blocks_per_step` and `bytes_per_step` are medians over the steps in which it did. `rows` are of the story's lives.
    """

    stack: int
    phase: Phase
    num_blocks: int
    bytes: int
    blocks_per_step: float
    bytes_per_step: float
    num_steps: int
    first_step: int
    first_event: int
    rows: tuple[int, ...]


def leaks_of(snapshot: Snapshot, story: Story) -> tuple[Leak, ...]:
    """Largest first; none where the trace has no steps that are told apart.

    In at least three steps, at regular distances up to the end, something has to be born that stays, and nothing of the
    same place may have gone after two steps or more, as from a full cache; one that is still filling looks like a leak.
    """
    lives = story.lives
    site_of, step_of = call_sites(snapshot)[lives.stack], story.steps.of(lives.born)
    goes = ~lives.is_left & ~lives.is_earlier & (story.steps.of(lives.freed) - step_of >= 2)
    rows = np.flatnonzero(lives.is_left & ~lives.is_earlier & ~np.isin(site_of, site_of[goes]))
    sites, steps = site_of[rows].tolist(), step_of[rows].tolist()
    by_place: defaultdict[tuple[int, Phase], defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, site, step in zip(rows.tolist(), sites, steps, strict=True):
        by_place[site, story.phase_at(int(lives.born[row]))][step].append(row)
    last = story.steps.last
    found = [_leak(story, *place, born) for place, born in by_place.items() if _is_regular(sorted(born), last)]
    return tuple(sorted(found, key=lambda leak: (-leak.bytes, leak.stack)))


def _is_regular(steps: list[int], last: int) -> bool:
    """Whether births in these steps go on to the end, with no gap of more than twice the usual one."""
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    return len(steps) >= _LEAST_STEPS and max(*gaps, last - steps[-1]) <= 2 * median(gaps)


def _leak(story: Story, stack: int, phase: Phase, born: dict[int, list[int]]) -> Leak:
    lives = story.lives
    rows = [row for step in sorted(born) for row in born[step]]
    return Leak(
        stack=stack,
        phase=phase,
        num_blocks=len(rows),
        bytes=int(lives.bytes[rows].sum()),
        blocks_per_step=median(map(len, born.values())),
        bytes_per_step=median(int(lives.bytes[each].sum()) for each in born.values()),
        num_steps=len(born),
        first_step=min(born),
        first_event=int(lives.born[rows].min()),
        rows=tuple(rows),
    )
