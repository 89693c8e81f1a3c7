"""When there is something to decide after a step: by its number, by the time, or by a counter that has risen.

Asked after every step, so that a quiet one costs three comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from tenure.capture.steps.schedule import Schedule, find_payable, has_reached, rise_limits
from tenure.capture.steps.spending import Spending
from tenure.capture.steps.watched_steps import WatchedSteps


class NextDecision:
    """Planned after each decision for the next; `at_once` where something has happened since that asks for one."""

    def __init__(self, watched: WatchedSteps) -> None:
        self._watched = watched
        self._at_step = 0
        self._from_seconds = inf
        self._limits: tuple[tuple[str, int], ...] = ()

    def at_once(self) -> None:
        """The next step that ends is one to decide after."""
        self._at_step = 0

    def has_come(self, step: int, *, elapsed: float, counters: Mapping[str, int]) -> bool:
        """Whether `step`, which ended `elapsed` seconds into the run with these counters, is one to decide after."""
        if step >= self._at_step or elapsed >= self._from_seconds:
            return True
        return bool(self._limits) and has_reached(self._limits, counters)

    def plan(
        self,
        step: int,
        schedule: Schedule,
        spending: Spending,
        *,
        elapsed: float,
        find_planned: Callable[[int, int], int],
    ) -> None:
        """What was to decide after `step` is decided; `find_planned` as `WatchedSteps.find_next_decision` asks for."""
        self._at_step = self._watched.find_next_decision(step, find_planned)
        self._limits = rise_limits(schedule, spending, elapsed=elapsed)
        self._from_seconds = find_payable(schedule, spending, step=step)
