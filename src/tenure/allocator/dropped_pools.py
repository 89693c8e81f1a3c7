"""Which segments that went back in a trace belonged to private pools: graphs' and `MemPool`s that nobody uses any more.

Up to torch 2.11 events do not tell their pool. `empty_cache()` gives back what is free of the pool of all, large
segments before small ones, then of each pool that is no longer used, small before large, each by stream, size and
address (release_cached_blocks in c10/cuda/CUDACachingAllocator.cpp); a `MemPool` that is dropped gives back its own
alone. So what goes back out of that order, or while free segments of the pool of all stay, is a private pool's. What
else was given while such a pool was filled, and went back behind all others, is taken for its own too.

Not known are pools of which nothing but the order could tell: those with large segments alone that went back when
nothing else was free, or behind others in one order with them. Where settings give back a part by themselves (a largest
size to split, a threshold), nothing is inferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.allocator.segment_lives import NONE, UNKNOWN, SegmentLife
from tenure.allocator.settings import SMALL_SEGMENT
from tenure.model.allocator import Action, Events
from tenure.model.heap import Ints

DEFAULT_ROW = 0
"""Of a snapshot's pools: the pool of all that asks for none."""


@dataclass(frozen=True)
class FreeRun:
    """Lives that end in consecutive events, in their order; `rest` are those that are free then and stay."""

    begin: int
    going: list[int]
    rest: list[int]


def goes_out_of_order(events: Events) -> bool:
    """Whether somewhere segments go back that cannot all be of one pool. Cost: a microsecond per segment."""
    rows = np.flatnonzero(events.action == Action.SEGMENT_FREE)
    columns = zip(rows.tolist(), *(each[rows].tolist() for each in (events.bytes, events.stream, events.address)),
                  strict=True)  # fmt: skip
    last_row, last_key = -1, (False, 0, 0, 0)
    for row, size, stream, address in columns:
        key = (size == SMALL_SEGMENT, stream % (1 << 64), size, address)
        if row == last_row + 1 and key < last_key:
            return True
        last_row, last_key = row, key
    return False


def pools_of_lives(events: Events, lives: Sequence[SegmentLife], life_at: Ints, num_pools: int) -> list[int]:
    """The pool of each life, an index into the snapshot's pools; those from `num_pools` on are inferred. Cost: half a
    microsecond per event."""
    pool = [life.pool for life in lives]
    of_all: list[list[int]] = []
    private: list[list[int]] = []
    for run in reversed(runs_of_frees(events, lives, life_at)):
        own, others = _parts(run.going, lives, stays=any(pool[each] == DEFAULT_ROW for each in run.rest))
        for each in own:
            pool[each] = DEFAULT_ROW
        for part in others:
            known = _known_between(part, lives)
            number = num_pools if known is None else known
            num_pools += known is None
            for each in part:
                pool[each] = number
        of_all.append(own)
        private += others
    for own in of_all:
        _take_what_was_given_meanwhile(own, private, lives, pool)
    return [DEFAULT_ROW if each == UNKNOWN else each for each in pool]


def runs_of_frees(events: Events, lives: Sequence[SegmentLife], life_at: Ints) -> list[FreeRun]:
    """Each run of events in which segments go back. Of what was there before the trace and stays, nothing is known."""
    change = (events.action == Action.ALLOC).astype(np.int64) - (events.action == Action.FREE_COMPLETED)
    net = np.zeros(len(lives), dtype=np.int64)
    lies_in_one = life_at != NONE
    np.add.at(net, life_at[lies_in_one], change[lies_in_one])
    in_use = {n: -int(net[n]) for n, life in enumerate(lives) if life.given == NONE and life.taken != NONE}
    runs: list[FreeRun] = []
    last = NONE
    for row, (action, by, life) in enumerate(
        zip(events.action.tolist(), change.tolist(), life_at.tolist(), strict=True)
    ):
        if action == Action.SEGMENT_ALLOC and life != NONE:
            in_use[life] = 0
        elif action == Action.SEGMENT_FREE and life != NONE:
            in_use.pop(life, None)
            if not runs or row != last + 1:
                runs.append(FreeRun(row, [], [number for number, count in in_use.items() if count == 0]))
            elif life in runs[-1].rest:
                runs[-1].rest.remove(life)
            runs[-1].going.append(life)
            last = row
        elif by and life in in_use:
            in_use[life] += by
    return runs


def _parts(going: list[int], lives: Sequence[SegmentLife], *, stays: bool) -> tuple[list[int], list[list[int]]]:
    """What went back of the pool of all, and of others; `stays`: of that of all something free stays."""
    length = 0 if stays else _length_in_order(going, lives, small_last=True)
    own, rest = going[:length], going[length:]
    if own and rest and not _is_small(lives[rest[0]]):
        length = next((place for place, each in enumerate(own) if _is_small(lives[each])), len(own))
        first = min(lives[each].given for each in rest)
        length += sum(lives[each].given < first for each in own[length:])  # small ones may be of either
        own, rest = going[:length], going[length:]
    others = []
    while rest:
        length = _length_in_order(rest, lives, small_last=False)
        others.append(rest[:length])
        rest = rest[length:]
    return own, others


def _is_small(life: SegmentLife) -> bool:
    return life.size == SMALL_SEGMENT


def _length_in_order(going: list[int], lives: Sequence[SegmentLife], *, small_last: bool) -> int:
    """How many at the beginning can be of one pool."""
    keys = [
        (_is_small(life) == small_last, life.stream % (1 << 64), life.size, life.address)
        for life in map(lives.__getitem__, going)
    ]
    return next((place for place in range(1, len(keys)) if keys[place] < keys[place - 1]), len(keys))


def _span(part: list[int], lives: Sequence[SegmentLife]) -> tuple[int, int]:
    given = [lives[each].given for each in part]
    return min(given), max(given)


def _known_between(part: list[int], lives: Sequence[SegmentLife]) -> int | None:
    """The private pool of a segment that is there at the end, and was given while these were."""
    first, last = _span(part, lives)
    return next((life.pool for life in lives if life.pool > DEFAULT_ROW and first <= life.given <= last), None)


def _take_what_was_given_meanwhile(
    own: list[int], private: list[list[int]], lives: Sequence[SegmentLife], pool: list[int]
) -> None:
    """The last that went back as if of the pool of all, if given while a private one was filled: of that one then."""
    for each in reversed(own):
        around = [part for part in private if _span(part, lives)[0] < lives[each].given < _span(part, lives)[1]]
        if not around:
            return
        pool[each] = pool[around[0][0]]
