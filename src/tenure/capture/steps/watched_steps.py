"""In which steps calls of modules are watched, and after which there is nothing to decide at all.

Most steps of a long run are quiet: their row is written, and that is all. What is decided by a step's number, by the
time or by cost is decided at others, with what it takes measured since the last of them.
"""

from __future__ import annotations

from collections.abc import Callable

from tenure.capture.steps.census_steps import next_geometric
from tenure.capture.steps.module_calls import ModuleCalls
from tenure.capture.steps.optional_share import OptionalShare
from tenure.capture.steps.phase_counters import PhaseCounters

MOST_QUIET_STEPS = 32
"""In a row; cost and time are looked at so often."""


class WatchedSteps:
    """Asked after each step with something to decide; seconds are of the hooks' own clock, censuses left out."""

    def __init__(self, modules: ModuleCalls, phases: PhaseCounters) -> None:
        self._modules = modules
        self._phases = phases
        self._share = OptionalShare()
        self._measured = (0, 0.0, 0.0, 0.0)
        self._watches = False
        self.marked = False
        """Whether the program says in code where its steps are."""

    @property
    def counted_seconds(self) -> float:
        """Of the run, as far as they count for what is optional."""
        return self._share.counted_seconds

    @property
    def is_overdrawn(self) -> bool:
        """Whether the machine is too slow for steps as quick as these to read counters after each."""
        return self._share.is_overdrawn

    def measure(self, step: int, elapsed: float, hook_seconds: float) -> None:
        """Steps until `step` are over, `elapsed` seconds into the run, of which the hooks took so many."""
        now = (step, elapsed, hook_seconds, self._modules.cost.seconds + self._phases.seconds)
        before, self._measured = self._measured, now
        self._share.take(
            steps=step - before[0],
            seconds=elapsed - before[1],
            own_seconds=hook_seconds - before[2],
            reckoned_seconds=now[3] - before[3],
        )

    def choose(self, step: int, *, wanted: bool) -> bool:
        """Whether calls are watched after `step`: where that is `wanted` anyway, and where it may be paid for; never
        where steps are `marked` in code."""
        allowed = self._may_watch and self._modules.cost.allows(step, elapsed=self.counted_seconds)
        self._watches = not self.marked and (wanted or allowed)
        return self._watches

    def find_next_decision(self, step: int, find_planned: Callable[[int, int], int]) -> int:
        """After which step to decide again: the next that is watched, that `find_planned(step, last)` finds before the
        last that comes into question, or one of the schedule; after a step that is watched itself, its own end."""
        if self._watches:
            return step + 1
        last = find_planned(step, min(step + MOST_QUIET_STEPS, next_geometric(step)))
        if not self._may_watch:
            return last
        gained = self._share.counted_per_step
        return self._modules.cost.next_allowed(step, last, elapsed=self.counted_seconds, per_step=gained)

    @property
    def _may_watch(self) -> bool:
        """Not where the program compiles: each compiled call would take the hooks out and put them back."""
        return not (self.marked or self._modules.compiles)
