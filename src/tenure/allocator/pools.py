"""Which private pool an event's block belongs to."""

from __future__ import annotations

import numpy as np

from tenure.model.allocator import Events, Snapshot
from tenure.model.heap import Ints

DEFAULT_ROW = 0
"""Of a snapshot's pools: the pool of all that asks for none."""


def pools_of_events(snapshot: Snapshot, device: int, events: Events) -> Ints:
    """The pool of each event, an index into the snapshot's pools.

    Traces that do not tell it: that of the segment at the event's address, among those that are left at the end.
    """
    told = snapshot.segments
    chosen = told.device == device
    if len(snapshot.pools) == 1 or not chosen.any():
        return np.maximum(events.pool, DEFAULT_ROW)
    place = np.searchsorted(told.address[chosen], events.address, side="right") - 1
    near = np.where(place >= 0, told.pool[chosen][np.maximum(place, 0)], DEFAULT_ROW)
    return np.where(events.pool >= 0, events.pool, near)
