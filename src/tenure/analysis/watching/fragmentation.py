"""Memory that torch's allocator holds and cannot use well: how much, and whether it drifts away from what is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenure.analysis.watching.counter_series import counter_series
from tenure.analysis.watching.slow_growth import SlowGrowth, find_slow_growth
from tenure.model.growth_rule import LEAST_RISE
from tenure.model.recording import Step


@dataclass(frozen=True)
class Fragmentation:
    """Shares of what is reserved, at the last step that was measured.

    `split_share` lies in free parts of blocks whose other parts are in use: neither given back nor of use for larger
    requests. `idle_share` is all that is reserved and not in use, the cache included. `drift` is growth of that idle
    part while what is in use does not grow as fast; None where there is none.
    """

    split_share: float | None
    idle_share: float
    drift: SlowGrowth | None


def find_fragmentation(steps: Sequence[Step]) -> Fragmentation | None:
    """None where no allocator of a device was counted."""
    at, reserved = counter_series(steps, "reserved_bytes")
    also, active = counter_series(steps, "active_bytes")
    if not len(reserved) or len(at) != len(also) or not reserved[-1]:
        return None
    _, split = counter_series(steps, "inactive_split_bytes")
    idle = reserved - active
    return Fragmentation(
        split_share=float(split[-1] / reserved[-1]) if len(split) else None,
        idle_share=float(idle[-1] / reserved[-1]),
        drift=find_slow_growth(at, idle, least_rise=LEAST_RISE["reserved_bytes"]),
    )
