"""When to take a census: at warm-up, then ever more rarely, and within the share of time that the user allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf

from tenure.capture.steps.census_steps import LAST_ROUND_STEP, is_census_step, is_geometric, next_census_step
from tenure.capture.steps.spending import (
    FREE_ENTRY_WORK,
    FREE_STEPS,
    FREE_WORK_WITHIN,
    LATE_IN_TRAINING,
    LATE_STEPS,
    LONG_CENSUS_SECONDS,
    Spending,
)

LAST_STEP_OF_ALL_ENTRIES = 4
"""Until then each census at a step's end is followed by one at the next forward's entry."""
LAST_IN_TRAINING = 64
"""Until then the steps of a training that began late are looked at as those of one that began at once."""
LOOK_SHARES = 3.0
"""So many times the censuses' share of the time a closer look may take by itself, unless it would be a long census."""
RISES_AFTER_SECONDS = 60.0
"""Earlier the steps that were planned are enough; counters and their readings differ from run to run."""
RISE_SHARE = 0.10
RISE_BYTES = {"rss_bytes": 64 << 20, "allocated_bytes": 16 << 20}
STEPS_BETWEEN_RISES = 4


@dataclass(frozen=True)
class Schedule:
    """What the user asked for. `steps` replaces the geometric schedule; `budget_percent` is a share of wall time."""

    steps: frozenset[int] | None = None
    last_step: int | None = None
    budget_percent: float = 1.0
    several_ranks: bool = False
    copy_step: int | None = None
    """The step after which a copy of the process is left for experiments: what it is asked comes from a census then."""
    begun: int = 0
    """After how many steps training began, where the program had called its models for as many before."""

    def is_planned(self, step: int) -> bool:
        """Depends on the step number alone, so that ranks pause together and not one after another."""
        if self.is_asked_for(step):
            return True
        if self.steps is not None:
            return step in self.steps
        return is_census_step(step) or is_census_step(self._in_training(step))

    def find_planned(self, step: int, last: int) -> int:
        """The first step after `step` and before `last` that `is_planned`; `last` where there is none."""
        chosen = (next_census_step(step), self._next_in_training(step)) if self.steps is None else self.steps
        planned = (self.last_step, self.copy_step, *chosen)
        return min((near for near in planned if near is not None and step < near < last), default=last)

    @property
    def has_extra(self) -> bool:
        """Whether there may be censuses beside the planned ones: not with several ranks, which would wait for one, nor
        where the user has chosen the steps."""
        return not self.several_ranks and self.steps is None

    def is_late(self, step: int) -> bool:
        """Whether it is one of the steps at which a census may be free though the rest of what is free is used up."""
        return step in LATE_STEPS or self._in_training(step) in LATE_IN_TRAINING

    def begin_training(self, step: int) -> Schedule:
        """Of a program that has called its models for `step` steps until now: its first steps begin once more."""
        return replace(self, begun=step) if step > LAST_ROUND_STEP else self

    def _in_training(self, step: int) -> int:
        """The number of a step of the training's first ones; 0 of all others."""
        return step - self.begun if self.begun < step <= self.begun + LAST_IN_TRAINING and self.begun else 0

    def _next_in_training(self, step: int) -> int | None:
        if not self.begun or step >= self.begun + LAST_IN_TRAINING:
            return None
        return self.begun + (next_census_step(step - self.begun) if step > self.begun else 1)

    def is_asked_for(self, step: int) -> bool:
        """Whether it is one of the steps that get a census whatever it costs."""
        return step in (self.last_step, self.copy_step)

    def is_behind(self, step: int, spending: Spending) -> bool:
        """Whether a planned census could not be paid for and none has been taken since: it comes when it can be."""
        return self.find_planned(max(spending.last_step, 1), step + 1) <= step

    def wants_entry(self, step: int) -> bool:
        """Whether the census after this step is followed by one at the next forward's entry: at the first steps, then
        once per octave. Growth is told at the steps' ends; what is carried into a forward by a few."""
        if self.steps is not None or self.is_asked_for(step):
            return True
        number = self._in_training(step) or step
        return number <= LAST_STEP_OF_ALL_ENTRIES or number == LAST_ROUND_STEP or not is_geometric(number)


def is_due(schedule: Schedule, spending: Spending, *, step: int, elapsed: float, counters: Mapping[str, int]) -> bool:
    """Whether to take a census after this step. With several ranks neither cost nor counters have a say.

    A planned one that was above the share comes at the first step at which it is within.
    """
    planned = schedule.is_planned(step)
    if not schedule.has_extra:
        return planned
    is_free = spending.has_free or (schedule.is_late(step) and spending.has_free_late)
    if schedule.is_asked_for(step) or (planned and is_free):
        return True
    if not spending.is_within(schedule.budget_percent, elapsed=elapsed):
        return False
    return schedule.is_behind(step, spending) or _is_at_rise(spending, step=step, elapsed=elapsed, counters=counters)


def find_payable(schedule: Schedule, spending: Spending, *, step: int) -> float:
    """From how many seconds of the run on a planned census that is behind may be paid for; infinite where none is."""
    if not schedule.has_extra or not schedule.is_behind(step, spending):
        return inf
    return spending.find_within(schedule.budget_percent)


def can_afford_entry(schedule: Schedule, spending: Spending, *, step: int, elapsed: float) -> bool:
    """Whether the census after this step may be followed by one at the next forward's entry: where few are free any
    more, only if that is within the share as well, so that steps' ends come first."""
    if not schedule.has_extra or schedule.is_asked_for(step) or spending.num_steps < FREE_STEPS:
        return True
    if spending.has_free and spending.total.work <= FREE_ENTRY_WORK:
        return True
    return spending.is_within(schedule.budget_percent, elapsed=elapsed)


def can_afford_within(schedule: Schedule, spending: Spending, *, elapsed: float) -> bool:
    """Whether a census within a step, at a call that trains nothing, may be taken: where the steps' own leave it, and
    from a part of free time that these cannot use up."""
    if not schedule.has_extra or spending.longest_seconds > LONG_CENSUS_SECONDS:
        return False
    work = spending.within_steps_work + spending.last.work
    cheap = spending.is_cheap or work <= FREE_WORK_WITHIN
    return cheap or spending.is_within(schedule.budget_percent, elapsed=elapsed)


def can_afford_look(schedule: Schedule, spending: Spending, *, elapsed: float) -> bool:
    """Whether one of the few closer looks at growth may be taken: one like the last census, by itself, is within three
    times the share of the time so far, a long one within the share, whatever those before it took."""
    shares = LOOK_SHARES if spending.last.seconds <= LONG_CENSUS_SECONDS else 1.0
    return schedule.has_extra and spending.last.seconds <= shares * schedule.budget_percent / 100 * elapsed


def _is_at_rise(spending: Spending, *, step: int, elapsed: float, counters: Mapping[str, int]) -> bool:
    if elapsed < RISES_AFTER_SECONDS or step - spending.last_step < STEPS_BETWEEN_RISES:
        return False
    return has_risen(spending.counters, counters)


def rise_limits(schedule: Schedule, spending: Spending, *, elapsed: float) -> tuple[tuple[str, int], ...]:
    """From what value on each counter has risen clearly since the last census; none where no census comes of it."""
    if not schedule.has_extra or elapsed < RISES_AFTER_SECONDS:
        return ()
    return _limits_above(spending.counters)


def has_reached(limits: tuple[tuple[str, int], ...], counters: Mapping[str, int]) -> bool:
    """Whether a counter is at its limit, or above."""
    return any(counters.get(name, 0) >= limit for name, limit in limits)


def has_risen(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Whether a counter rose clearly: by a tenth, and by more than noise."""
    return has_reached(_limits_above(before), now)


def _limits_above(before: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    known = ((name, least, before[name]) for name, least in RISE_BYTES.items() if name in before)
    return tuple((name, value + max(least, ceil(RISE_SHARE * value))) for name, least, value in known)
