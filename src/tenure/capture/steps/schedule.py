"""When to take a census: at warm-up, then ever more rarely, and within the share of time that the user allows.

A program of seconds is looked at by its step numbers and by how much our own censuses go through alone, so that each
run of it is looked at at the same steps, however busy or slow the machine is. What the user waits for is wall time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, inf

LAST_STEP_OF_ALL_ENTRIES = 4
"""Until then each census at a step's end is followed by one at the next forward's entry."""
LAST_ROUND_STEP = 8
"""From then on the second census of an octave lies beside its middle, and an entry follows it."""
BESIDE_THE_MIDDLE = (1, -2, -4, -1)
"""So far, in turn. What programs do every so many steps they do at multiples, and what an evaluation leaves until the
next one is not there at the forward's entry where that is the evaluation's own. With these no period meets more than
half of the entries at the same place, and one of ten, twenty, fifty or a hundred steps none at its own."""
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
FREE_SECONDS = 10.0
"""None is free after so much processor time, whatever was gone through for it."""
FREE_WAIT_SECONDS = 120.0
"""After those steps none is free once the user has waited so long: a slow disk costs no processor time."""
LONG_CENSUS_SECONDS = 5.0
"""No later census is free once the user has waited so long for one."""
LOOK_SHARES = 3.0
"""So many times the censuses' share of the time a closer look may take by itself, unless it would be a long census."""
WAIT_SECONDS = 2.5
"""So much longer than their share of the time the user may wait for those that are not free, where others have the
processor: of processor time they never take more than the share."""
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

    def is_planned(self, step: int) -> bool:
        """Depends on the step number alone, so that ranks pause together and not one after another."""
        if self.is_asked_for(step):
            return True
        return is_census_step(step) if self.steps is None else step in self.steps

    def find_planned(self, step: int, last: int) -> int:
        """The first step after `step` and before `last` that `is_planned`; `last` where there is none."""
        chosen = (next_census_step(step),) if self.steps is None else self.steps
        planned = (self.last_step, self.copy_step, *chosen)
        return min((near for near in planned if near is not None and step < near < last), default=last)

    @property
    def has_extra(self) -> bool:
        """Whether there may be censuses beside the planned ones: not with several ranks, which would wait for one, nor
        where the user has chosen the steps."""
        return not self.several_ranks and self.steps is None

    def is_asked_for(self, step: int) -> bool:
        """Whether it is one of the steps that get a census whatever it costs."""
        return step in (self.last_step, self.copy_step)

    def is_behind(self, step: int, spending: Spending) -> bool:
        """Whether a planned census could not be paid for and none has been taken since: it comes when it can be."""
        return self.find_planned(max(spending.last_step, 1), step + 1) <= step

    def wants_entry(self, step: int) -> bool:
        """Whether the census after this step is followed by one at the next forward's entry: at the first steps, then
        once per octave. Growth is told at the steps' ends; what is carried into a forward by a few."""
        if step <= LAST_STEP_OF_ALL_ENTRIES or self.steps is not None or self.is_asked_for(step):
            return True
        return not is_geometric(step) or step == LAST_ROUND_STEP


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
        then = self.total.plus(self.last)
        cheap = then.work <= FREE_WORK and then.processor_seconds <= FREE_SECONDS
        return cheap and self.longest_seconds <= LONG_CENSUS_SECONDS

    def is_within(self, budget_percent: float, *, elapsed: float) -> bool:
        """Whether one more like the last, with those before it that were not free, keeps to the share of the time."""
        return self.find_within(budget_percent) <= elapsed

    def find_within(self, budget_percent: float) -> float:
        """From how many seconds of the run on it does; infinite for no share."""
        then = self.paid.plus(self.last)
        needed = max(then.processor_seconds, then.seconds - WAIT_SECONDS)
        return needed * 100 / budget_percent if budget_percent else inf


def is_census_step(step: int) -> bool:
    """Steps 1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44, 64, 95, 128, 193, ...: two per octave."""
    if step <= LAST_ROUND_STEP:
        return is_geometric(step)
    return _is_power_of_two(step) or step == _beside_middle(step.bit_length() - 1)


def next_census_step(step: int) -> int:
    """The first of these steps after `step`, which is 1 or more."""
    if step < LAST_ROUND_STEP:
        return next_geometric(step)
    octave = step.bit_length() - 1
    beside = _beside_middle(octave)
    return beside if step < beside else 2 << octave


def _beside_middle(octave: int) -> int:
    """The second census of the octave that begins with step 2 ** octave."""
    turn = octave - (LAST_ROUND_STEP.bit_length() - 1)
    return 3 * (1 << octave - 1) + BESIDE_THE_MIDDLE[turn % len(BESIDE_THE_MIDDLE)]


def is_geometric(step: int) -> bool:
    """Steps 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, ...: two per octave."""
    if step < 1:
        return False
    return _is_power_of_two(step) or (step % 3 == 0 and _is_power_of_two(step // 3))


def next_geometric(step: int) -> int:
    """The first of these steps after `step`, which is 1 or more."""
    power = 1 << step.bit_length() - 1
    middle = power + power // 2
    return middle if step < middle else 2 * power


def watches_calls(step: int) -> bool:
    """Whether it is watched which modules are called after this step, beside the steps that follow a census.

    True around 10, 20, ..., 90, 100, 200, ...: what is used every so many steps is mostly used every 5, 10, 50 or 100,
    and a census follows none of these. Around, for programs count from 0 or 1, before or after the optimizer's step.
    """
    return step % 10 in (9, 0, 1) and any(_is_round(near) for near in (step - 1, step, step + 1))


def next_watched_calls(step: int) -> int:
    """The first step after `step` of which `watches_calls` is true."""
    digits: int = max(10, 10 ** (len(str(step)) - 1))
    near = max(1, -(-step // digits)) * digits
    return max(near - 1, step + 1)


def is_due(schedule: Schedule, spending: Spending, *, step: int, elapsed: float, counters: Mapping[str, int]) -> bool:
    """Whether to take a census after this step. With several ranks neither cost nor counters have a say.

    A planned one that was above the share comes at the first step at which it is within.
    """
    planned = schedule.is_planned(step)
    if not schedule.has_extra:
        return planned
    if schedule.is_asked_for(step) or (planned and spending.has_free):
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


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _is_round(number: int) -> bool:
    text = str(number)
    return len(text) > 1 and text[1:].strip("0") == ""
