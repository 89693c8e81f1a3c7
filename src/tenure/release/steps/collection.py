"""`tenure.collect_at_steps()`: garbage is collected between steps, as often as its measured cost allows.

Left to itself Python collects when enough objects have been made, in the middle of a forward or on one rank of many,
and large tensors in rings wait for it however many bytes they are.
"""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tenure.errors import UsageError
from tenure.model.units import format_bytes, format_seconds
from tenure.release.device_bytes import compare, read_device_bytes
from tenure.release.outcome import ByDevice, DeviceBytes, Survivor

LONGEST_PERIOD = 4096
MOST_OBJECTS = 500_000
"""New objects after which garbage is collected whatever it costs: without a bound it could fill memory."""
_SMOOTHING = 0.3


@dataclass(frozen=True)
class CollectionOutcome(ByDevice):
    """What the end of one step did. `num_unreachable` objects were found, in `seconds`, if a collection `ran`.

    `devices` has the bytes of tensors before and after where it ran. `period` is how many steps lie between two
    collections from now on.
    """

    step: int
    ran: bool = False
    num_unreachable: int = 0
    seconds: float = 0.0
    devices: tuple[DeviceBytes, ...] = ()
    period: int = 1

    @property
    def freed_bytes(self) -> int:
        """By how much tensors fell, over all devices."""
        return self.before_bytes - self.after_bytes

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Rings with tensors that no collection frees, because C++ code owns a part of them, as they are when this is
        asked for, each with the reference to cut; () where no collection ran.

        Costs a collection and a census.
        """
        if not self.ran:
            return ()
        from tenure.release.verify import Verification

        gc.collect()
        return Verification().rings()

    def __str__(self) -> str:
        if not self.ran:
            return f"step {self.step}: not due (every {self.period} steps)"
        return (
            f"step {self.step}: {self.num_unreachable:,} unreachable objects in {format_seconds(self.seconds)}, "
            f"{format_bytes(self.freed_bytes)} of tensors; next in {self.period} steps"
        )


class StepCollector:
    """Made by `collect_at_steps`; call `step()` at the end of each step. `total_seconds` is what collecting took."""

    def __init__(self, share: float) -> None:
        self.num_steps = 0
        self.num_collections = 0
        self.total_seconds = 0.0
        self.period = 1
        self._share = share
        self._step_seconds: float | None = None
        self._collect_seconds: float | None = None
        self._last = time.perf_counter()

    def step(self) -> CollectionOutcome:
        """A step has ended: collect if it is due. A microsecond where it is not."""
        now = time.perf_counter()
        self._step_seconds = _smoothed(self._step_seconds, now - self._last)
        self.num_steps += 1
        due = self.num_steps % self.period == 0 or gc.get_count()[0] > MOST_OBJECTS
        outcome = self._collect() if due else CollectionOutcome(self.num_steps, period=self.period)
        self._last = time.perf_counter()
        return outcome

    def _collect(self) -> CollectionOutcome:
        start = time.perf_counter()
        before = read_device_bytes()
        found = gc.collect()
        devices = compare(before, read_device_bytes(), None)
        seconds = time.perf_counter() - start
        self.num_collections += 1
        self.total_seconds += seconds
        self._collect_seconds = _smoothed(self._collect_seconds, seconds)
        self.period = choose_period(self._collect_seconds, self._step_seconds or 0.0, self._share)
        return CollectionOutcome(self.num_steps, True, found, seconds, devices, self.period)


def choose_period(collect_seconds: float, step_seconds: float, share: float) -> int:
    """Steps between two collections so that they take at most `share` of the time, as a power of two.

    Powers of two divide each other: ranks that measure differently still collect at the same steps, without a word
    between them.
    """
    period = 1
    while period < LONGEST_PERIOD and collect_seconds > share * step_seconds * period:
        period *= 2
    return period


@contextmanager
def collect_at_steps(share: float = 0.01) -> Iterator[StepCollector]:
    """`with tenure.collect_at_steps() as collector:` around a loop that calls `collector.step()` after each step.

    Automatic collection is off inside the block and as it was before when it ends, also by an exception; each
    `step()` that is due runs a full `gc.collect()` and looks at all tensors before and after, at the first step and
    then so rarely that both together take at most `share` of the time, at least every 4,096 steps and whenever 500,000
    new objects have come. Raises UsageError for a share that is not above 0 and below 1.
    """
    if not (isinstance(share, int | float) and 0 < share < 1):
        raise UsageError(
            f"share is the part of the time that collecting may take, above 0 and below 1; {share!r} was given"
        )
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield StepCollector(share)
    finally:
        if was_enabled:
            gc.enable()


def _smoothed(before: float | None, now: float) -> float:
    return now if before is None else before + _SMOOTHING * (now - before)
