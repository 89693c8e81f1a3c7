"""Which events of a trace begin and end the use of a block, and which of them come before and after at its address."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tenure.model.allocator import Action, Events
from tenure.model.heap import Ints

NEVER = -1


@dataclass(frozen=True)
class Uses:
    """The ALLOC and FREE_COMPLETED events of a trace in its order; a row each.

    `event` is its number in the trace, `previous` and `following` the rows of the same address's event before and
    after it, NEVER where there is none.
    """

    event: Ints
    address: Ints
    bytes: Ints
    is_alloc: NDArray[np.bool_]
    previous: Ints
    following: Ints


def uses_of(events: Events) -> Uses:
    """Cost: a tenth of a microsecond per event."""
    event = np.flatnonzero((events.action == Action.ALLOC) | (events.action == Action.FREE_COMPLETED))
    address = events.address[event]
    order = np.argsort(address, kind="stable")
    same = np.flatnonzero(np.diff(address[order]) == 0)
    previous = np.full(len(event), NEVER, dtype=np.int64)
    following = np.full(len(event), NEVER, dtype=np.int64)
    previous[order[same + 1]] = order[same]
    following[order[same]] = order[same + 1]
    return Uses(event, address, events.bytes[event], events.action[event] == Action.ALLOC, previous, following)
