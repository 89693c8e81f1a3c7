"""When a counter begins to grow the recorder looks closer: two censuses, told in the recording.

At most once per `REST_SECONDS`, and only once the run has twice the steps that it had the last time, so that a run of
a million steps sees some thirty extra censuses at most. When they may be paid for is the census schedule's say.
"""

from __future__ import annotations

from collections.abc import Callable

from tenure.capture.sampling.trend import Trend, TrendWatch
from tenure.model.recording import GROWS
from tenure.model.units import format_bytes

REST_SECONDS = 600.0
LOOK_SECONDS = 5.0
LOOKS = 2
SHARE = 0.25
"""Of the steps in which the growth was seen: so many lie between the looks, so that what grows differs."""
LEAST_APART = 16
_WORDS = {"allocated_bytes": "allocated memory", "rss_bytes": "resident memory"}


class CloserLooks:
    """Steps are handed over in the hooks, trends are looked for on the recorder's thread."""

    def __init__(self, note: Callable[[str, str], None], *, allowed: Callable[[], bool]) -> None:
        self._note = note
        self._allowed = allowed
        self._watch = TrendWatch()
        self.take_step = self._watch.add
        self._next_look = 0.0
        self._rests_until = 0.0
        self._rests_until_step = 0
        self.wanted_from: int | None = None
        """The step from which on the next of the looks that are planned is wanted; None where none is."""
        self._apart = LEAST_APART
        self._left = 0
        self._waits = False

    def look(self, now: float) -> None:
        """On the thread, each half second: note a trend that has begun, and plan the looks."""
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        trend = self._watch.look()
        if trend is None or now < self._rests_until or trend.last_step < self._rests_until_step:
            return
        self._rests_until, self._rests_until_step = now + REST_SECONDS, 2 * trend.last_step
        self._apart = max(LEAST_APART, round(SHARE * (trend.last_step - trend.first_step)))
        allowed = self._allowed()
        self._note("info", describe(trend, self._apart if allowed else None))
        if allowed:
            self._left, self._waits = LOOKS, False
            self.wanted_from = trend.last_step

    def is_due(self, step: int, may_be_paid: Callable[[], bool]) -> bool:
        """In the hook of a step's end: whether a closer look is due now; it waits until it may be paid for."""
        if self.wanted_from is None or step < self.wanted_from:
            return False
        if not may_be_paid():
            if not self._waits:
                self._waits = True
                self._note("info", f"{GROWS} the closer look waits until it is within its share of the time")
            return False
        self._left -= 1
        self.wanted_from = step + self._apart if self._left else None
        return True


def describe(trend: Trend, apart: int | None) -> str:
    """`Memory grows: allocated memory by about 64.00 KiB per step over steps 12 to 200; ...`, `apart` steps between the
    looks; None where there are none."""
    what, rate = _WORDS[trend.name], format_bytes(trend.per_step)
    if apart is None:
        looks = "no closer looks, for with several ranks, or at chosen steps, censuses keep to their steps"
    else:
        looks = f"two closer looks come, {apart:,} steps apart"
    return f"{GROWS} {what} by about {rate} per step over steps {trend.first_step:,} to {trend.last_step:,}; {looks}"
