"""Which private pool an event's block belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenure.allocator.dropped_pools import DEFAULT_ROW, goes_out_of_order, pools_of_lives
from tenure.allocator.segment_lives import NONE, segment_lives
from tenure.allocator.settings import settings_of_snapshot
from tenure.model.allocator import Action, Events, PoolId, Snapshot
from tenure.model.heap import Ints

_INFERRED = -1
"""First number of the pools that no snapshot names."""


@dataclass(frozen=True)
class EventPools:
    """The pool of each event, an index into `pools`: the snapshot's, then the inferred (-1, 0), (-1, 1) and so on."""

    rows: Ints
    pools: tuple[PoolId, ...]


def pools_of_events(snapshot: Snapshot, device: int, events: Events) -> EventPools:
    """The pool of each event. Cost: nothing to speak of where one pool can have served all, else half a microsecond per
    event.

    Traces that do not tell it, those up to torch 2.11: that of the segment around the event's address at its time, if
    it is there at the end; what had gone back is of the pool of all, or of one inferred by `dropped_pools`. In
    expandable segments that of the run of pages around the address at the end.
    """
    if (events.pool >= 0).all() and len(events):
        return EventPools(events.pool, snapshot.pools)
    near, num_pools = _near(snapshot, device, events), len(snapshot.pools)
    if num_pools > 1 or goes_out_of_order(events):
        lives, life_at = segment_lives(snapshot, device, events)
        pool = [max(life.pool, DEFAULT_ROW) for life in lives]
        if not settings_of_snapshot(snapshot.settings).gives_back_parts:
            pool = pools_of_lives(events, lives, life_at, num_pools)
        num_pools = max([num_pools - 1, *pool]) + 1
        near = np.where(life_at == NONE, near, np.array([*pool, DEFAULT_ROW], dtype=np.int64)[life_at])
    inferred = tuple((_INFERRED, number) for number in range(num_pools - len(snapshot.pools)))
    return EventPools(np.where(events.pool >= 0, events.pool, near), (*snapshot.pools, *inferred))


def _near(snapshot: Snapshot, device: int, events: Events) -> Ints:
    """The pool of the run of pages around each address, among those that are there at the end."""
    told = snapshot.segments
    chosen = (told.device == device) & (told.is_expandable != 0)
    if len(snapshot.pools) == 1 or not chosen.any():
        return np.full(len(events), DEFAULT_ROW, dtype=np.int64)
    address, end = told.address[chosen], told.address[chosen] + told.bytes[chosen]
    place = np.searchsorted(address, events.address, side="right") - 1
    lies_inside = (place >= 0) & (events.address < end[np.maximum(place, 0)]) & (events.action != Action.OOM)
    return np.where(lies_inside, told.pool[chosen][np.maximum(place, 0)], DEFAULT_ROW)
