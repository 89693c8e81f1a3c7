"""Which private pool an event's block belongs to."""

from __future__ import annotations

import numpy as np

from tenure.model.allocator import Events, Snapshot
from tenure.model.heap import Ints

DEFAULT_ROW = 0
"""Of a snapshot's pools: the pool of all that asks for none."""


def pools_of_events(snapshot: Snapshot, device: int, events: Events) -> Ints:
    """The pool of each event, an index into the snapshot's pools.

    Traces that do not tell it: that of the segment around the event's address, among those that are left at the end;
    where there is none any more, the pool of all.
    """
    told = snapshot.segments
    chosen = told.device == device
    if len(snapshot.pools) == 1 or not chosen.any():
        return np.maximum(events.pool, DEFAULT_ROW)
    address, end = told.address[chosen], told.address[chosen] + told.bytes[chosen]
    place = np.searchsorted(address, events.address, side="right") - 1
    lies_inside = (place >= 0) & (events.address < end[np.maximum(place, 0)])
    near = np.where(lies_inside, told.pool[chosen][np.maximum(place, 0)], DEFAULT_ROW)
    return np.where(events.pool >= 0, events.pool, near)
