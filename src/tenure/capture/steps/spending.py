"""What censuses have cost so far, and how much of it is free.

A program of seconds is looked at by its step numbers and by how much our own censuses go through alone, so that each
run of it is looked at at the same steps, however busy or slow the machine is. What the user waits for is wall time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

FREE_STEPS = 8
"""At the first scheduled steps censuses are taken whatever they cost: without a few there is nothing to compare."""
FREE_WORK = 7_000_000
"""So many objects all censuses together may go through whatever the share: programs of seconds are watched to their
end. At half a microsecond each, more or less by machine, it is three and a half seconds of processor time."""
FREE_WORK_WITHIN = 2_000_000
"""So much of it those within steps may take, whatever the steps' own have: in evaluations, and after the last step."""
FREE_ENTRY_WORK = 5_600_000
"""The rest of it is for steps' ends alone, which tell what grows: a leak that begins late is seen by them."""
WORK_OF_RECORDED = 30
"""An object that is recorded, too, takes as long as so many that are gone through."""
LATE_STEPS = (32, 44, 64)
"""At these a census is free, too, after all of that: of a program of fifty steps whose heap is large nothing later than
step 16 would be seen otherwise, and with what libraries bring along most heaps are."""
LATE_IN_TRAINING = (2, 8, 16, *LATE_STEPS)
"""The same of a training's own steps, where the program called its models for many steps before it began: the free
ones may have gone into these."""
LATE_WORK = 1_500_000
"""So much the last one may have gone through for that; three fourths of a second, more or less by machine."""
FREE_SECONDS = 10.0
"""None is free after so much processor time, whatever was gone through for it."""
FREE_WAIT_SECONDS = 120.0
"""After those steps none is free once the user has waited so long: a slow disk costs no processor time."""
LONG_CENSUS_SECONDS = 5.0
"""No later census is free once the user has waited so long for one."""
WAIT_SECONDS = 2.5
"""So much longer than their share of the time the user may wait for those that are not free, where others have the
processor: of processor time they never take more than the share."""


@dataclass(frozen=True)
class Cost:
    """Wall time, which the user waits for, processor time of the calling thread, which does not grow under load, and
    the objects gone through, which are as many on a slow machine."""

    seconds: float
    processor_seconds: float
    work: int = 0

    @classmethod
    def now(cls) -> Cost:
        """Both clocks, to be given to `since`."""
        return cls(time.perf_counter(), time.thread_time())

    @classmethod
    def since(cls, started: Cost, *, work: int) -> Cost:
        """What has passed since, on the same thread."""
        now = cls.now()
        return cls(now.seconds - started.seconds, now.processor_seconds - started.processor_seconds, work)

    def plus(self, other: Cost) -> Cost:
        """Both together."""
        processor_seconds = self.processor_seconds + other.processor_seconds
        return Cost(self.seconds + other.seconds, processor_seconds, self.work + other.work)


@dataclass
class Spending:
    """What censuses have cost so far, and the counters at the last one."""

    num_steps: int = 0
    total: Cost = Cost(0.0, 0.0)
    within_steps_work: int = 0
    """Of those at calls within a step."""
    paid: Cost = Cost(0.0, 0.0)
    """What of it was spent when none was free any more: only this has to keep to the share."""
    longest_seconds: float = 0.0
    last: Cost = Cost(0.0, 0.0)
    last_step: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)

    def add(self, cost: Cost, *, step: int, counters: Mapping[str, int], within_step: bool = False) -> None:
        """Count one census in; those at a step's end and at the next entry make one step."""
        self.within_steps_work += cost.work if within_step else 0
        self.add_extra(cost)
        self.num_steps += step != self.last_step
        self.last = cost
        self.longest_seconds = max(self.longest_seconds, cost.seconds)
        self.last_step = step
        self.counters = dict(counters)

    def add_extra(self, cost: Cost) -> None:
        """Count in what lies outside of the schedule."""
        if not self.has_free:
            self.paid = self.paid.plus(cost)
        self.total = self.total.plus(cost)

    @property
    def has_free(self) -> bool:
        """Whether the next planned census is taken whatever the share."""
        if self.num_steps < FREE_STEPS:
            return self.longest_seconds <= LONG_CENSUS_SECONDS
        return self.is_cheap and self.total.seconds <= FREE_WAIT_SECONDS

    @property
    def is_cheap(self) -> bool:
        """Whether one more like the last is within what is free, and none was long."""
        return self.total.plus(self.last).work <= FREE_WORK and self._is_quick

    @property
    def has_free_late(self) -> bool:
        """Whether the one at a late step is taken whatever the share: one like the last is no long one."""
        return self.last.work <= LATE_WORK and self._is_quick

    @property
    def _is_quick(self) -> bool:
        seconds = self.total.plus(self.last).processor_seconds
        return seconds <= FREE_SECONDS and self.longest_seconds <= LONG_CENSUS_SECONDS

    def is_within(self, budget_percent: float, *, elapsed: float) -> bool:
        """Whether one more like the last, with those before it that were not free, keeps to the share of the time."""
        return self.find_within(budget_percent) <= elapsed

    def find_within(self, budget_percent: float) -> float:
        """From how many seconds of the run on it does; infinite for no share."""
        then = self.paid.plus(self.last)
        needed = max(then.processor_seconds, then.seconds - WAIT_SECONDS)
        return needed * 100 / budget_percent if budget_percent else inf
