"""Snapshots of several ranks beside each other: which holds more or less than the others, in what, and since when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from tenure.allocator.at_peak import composition, parts_of
from tenure.allocator.replay import Replay
from tenure.allocator.roles import BlockRole
from tenure.allocator.story import Story
from tenure.model.allocator import Action, Snapshot
from tenure.model.heap import Ints

LEAST_BYTES = 16 << 20
LEAST_SHARE = 0.05
"""Of the median peak: smaller differences between ranks are nothing."""
_SCATTER = 3.0
"""Times the ranks' median distance from their median: what lies within differs as the others do."""


_BEGUN = 0.1
"""Of the difference at the peak: from there on it is told to be there."""


@dataclass(frozen=True)
class RankSummary:
    """One rank's trace. `at_peak` has the bytes of each role at its peak, `by_role` the most that each role had at any
    time, `by_step` in each step, `by_place` that of each line at the role's time."""

    rank: int
    active_bytes: int
    reserved_bytes: int
    num_events: int
    at_peak: Mapping[BlockRole, int]
    by_role: Mapping[BlockRole, int]
    by_step: tuple[Mapping[BlockRole, int], ...]
    by_place: Mapping[tuple[BlockRole, str], int]
    out_of_memory: bool


@dataclass(frozen=True)
class OddRank:
    """`bytes_more` of `role` than the others' median, each at its most; negative: less. `since_step` is the first step
    of the trace from which on it is so in each, None where steps are not told or it is so at the peak alone."""

    rank: int
    role: BlockRole
    bytes_more: int
    since_step: int | None
    line: str


@dataclass(frozen=True)
class RanksCompared:
    """All ranks, and what is odd of them, heaviest first. `missing` ranks below the highest have no snapshot."""

    ranks: tuple[RankSummary, ...]
    odd: tuple[OddRank, ...]
    missing: tuple[int, ...]


def summary_of(
    rank: int, snapshot: Snapshot, replay: Replay, story: Story, line_of: Callable[[int], str]
) -> RankSummary:
    """What is kept of one rank's snapshot to compare it; `line_of` words a stack."""
    in_use = {role: _in_use(story, np.flatnonzero(story.role == role)) for role in BlockRole}
    by_place: defaultdict[tuple[BlockRole, str], int] = defaultdict(int)
    for role, sizes in in_use.items():
        rows = story.lives.in_use_after(int(np.argmax(sizes)) if len(sizes) else -1)
        for part in parts_of(snapshot, story, rows[story.role[rows] == role]):
            by_place[role, line_of(part.stack)] += part.bytes
    events = snapshot.traces.get(replay.device)
    return RankSummary(
        rank=rank,
        active_bytes=replay.active.bytes,
        reserved_bytes=replay.reserved.bytes,
        num_events=replay.num_events,
        at_peak=composition(snapshot, story, replay.active.event).by_role,
        by_role={role: int(sizes.max(initial=0)) for role, sizes in in_use.items() if sizes.any()},
        by_step=_by_step(story, in_use),
        by_place=dict(by_place),
        out_of_memory=events is not None and bool((events.action == Action.OOM).any()),
    )


def compare(ranks: Sequence[RankSummary]) -> RanksCompared:
    """Each rank beside the median of all: with two, beside the other."""
    found = [odd for summary in ranks for odd in _odd(summary, [each for each in ranks if each is not summary])]
    numbers = {each.rank for each in ranks}
    missing = tuple(sorted(set(range(max(numbers, default=-1) + 1)) - numbers))
    return RanksCompared(tuple(ranks), tuple(sorted(found, key=lambda odd: (-abs(odd.bytes_more), odd.rank))), missing)


def _odd(summary: RankSummary, others: Sequence[RankSummary]) -> list[OddRank]:
    if not others:
        return []
    least = max(LEAST_BYTES, LEAST_SHARE * median(each.active_bytes for each in others))
    found = []
    for role in {role for each in (summary, *others) for role in each.by_role}:
        sizes = [each.by_role.get(role, 0) for each in others]
        more = summary.by_role.get(role, 0) - int(median(sizes))
        scatter = median(abs(size - median(sizes)) for size in sizes)
        if abs(more) >= least and abs(more) > _SCATTER * scatter and (len(others) > 1 or more > 0):
            since = _since(summary, others, role, more)
            found.append(OddRank(summary.rank, role, more, since, _line(summary, others, role)))
    return found


def _since(summary: RankSummary, others: Sequence[RankSummary], role: BlockRole, more: int) -> int | None:
    """The first of the last whole steps in all of which a tenth of the difference is there, in the same direction."""
    num_steps = min(len(each.by_step) for each in (summary, *others)) - 1
    since = None
    for step in reversed(range(num_steps)):
        level = median(each.by_step[step].get(role, 0) for each in others)
        if (summary.by_step[step].get(role, 0) - level) / more < _BEGUN:
            break
        since = step
    return since


def _line(summary: RankSummary, others: Sequence[RankSummary], role: BlockRole) -> str:
    """Where most of it was asked for beyond the others; of what it has less, where the others ask."""
    lines = {line for each in (summary, *others) for of, line in each.by_place if of == role}

    def more(line: str) -> float:
        return abs(
            summary.by_place.get((role, line), 0) - median(each.by_place.get((role, line), 0) for each in others)
        )

    return max(sorted(lines), key=more, default="")


def _by_step(story: Story, in_use: Mapping[BlockRole, Ints]) -> tuple[Mapping[BlockRole, int], ...]:
    """The most of each role in each step; nothing where steps are not told."""
    if not story.steps.ends:
        return ()
    most = {role: np.maximum.reduceat(sizes, [0, *story.steps.ends]).tolist() for role, sizes in in_use.items()}
    return tuple(
        {role: sizes[step] for role, sizes in most.items() if sizes[step]} for step in range(story.steps.last + 1)
    )


def _in_use(story: Story, rows: Ints) -> Ints:
    """Bytes in these rows of the lives after each event."""
    lives = story.lives
    changes = np.zeros(lives.num_events + 1, dtype=np.int64)
    np.add.at(changes, np.maximum(lives.born[rows], 0), lives.bytes[rows])
    np.subtract.at(changes, lives.freed[rows], lives.bytes[rows])
    found: Ints = np.cumsum(changes[:-1])
    return found
