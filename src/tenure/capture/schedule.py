"""When to take a census: at warm-up, then ever more rarely, and within the share of time that the user allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FREE_STEPS = 8
"""At the first scheduled steps censuses are taken whatever they cost: without a few there is nothing to compare."""
FREE_SECONDS = 3.0
"""So much all censuses together may cost whatever the share: programs of seconds are watched to their end."""
LONG_CENSUS_SECONDS = 5.0
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

    def is_planned(self, step: int) -> bool:
        """Depends on the step number alone, so that ranks pause together and not one after another."""
        if step == self.last_step:
            return True
        return is_geometric(step) if self.steps is None else step in self.steps


@dataclass
class Spending:
    """What censuses have cost so far, and the counters at the last one."""

    num_steps: int = 0
    seconds: float = 0.0
    longest_seconds: float = 0.0
    last_seconds: float = 0.0
    last_step: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)

    def add(self, seconds: float, *, step: int, counters: Mapping[str, int]) -> None:
        """Count one census in; those at a step's end and at the next entry make one step."""
        self.num_steps += step != self.last_step
        self.seconds += seconds
        self.last_seconds = seconds
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.last_step = step
        self.counters = dict(counters)


def is_geometric(step: int) -> bool:
    """Steps 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, ...: two per octave."""
    if step < 1:
        return False
    return _is_power_of_two(step) or (step % 3 == 0 and _is_power_of_two(step // 3))


def is_due(schedule: Schedule, spending: Spending, *, step: int, elapsed: float, counters: Mapping[str, int]) -> bool:
    """Whether to take a census after this step. With several ranks neither cost nor counters have a say."""
    planned = schedule.is_planned(step)
    if schedule.several_ranks or schedule.steps is not None:
        return planned
    free = spending.num_steps < FREE_STEPS or spending.seconds + spending.last_seconds <= FREE_SECONDS
    if planned and free and spending.longest_seconds <= LONG_CENSUS_SECONDS:
        return True
    if step == schedule.last_step:
        return True
    rose = step - spending.last_step >= STEPS_BETWEEN_RISES and has_risen(spending.counters, counters)
    affordable = spending.seconds + spending.last_seconds <= schedule.budget_percent / 100 * elapsed
    return affordable and (planned or rose)


def has_risen(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    """Whether a counter rose clearly: by a tenth, and by more than noise."""
    return any(
        name in before and now.get(name, 0) - before[name] >= max(least, RISE_SHARE * before[name])
        for name, least in RISE_BYTES.items()
    )


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
