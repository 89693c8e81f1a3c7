"""Which steps are profiled: two after warm-up, and more where these two differ or a later part of the program does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tenure.capture.profile.step_profile import StepProfiler, choose_step
from tenure.capture.steps.calls import optimizer_was_made
from tenure.capture.steps.schedule import Schedule

LATER_ROOT_WARM_UP = 3
"""Steps from before a root's first call to the first of its steps that is profiled: it may not run for long."""
LATER_OPTIMIZER_WARM_UP = 3
"""Steps from before a new optimizer's first to the first that is profiled: its state is made in the one between."""
GROWN = 2.0
"""So many times the tensor memory of the last profile makes another one worth its while, where nothing is trained."""
MOST_FOR_GROWTH = 2
RISEN = 0.10
"""By such a share a training's tensor memory at steps' ends rose since its profile, and stays: what came may idle."""
LEAST_RISE = 128 << 10
LEVEL_CENSUSES = 3
LEVEL_PART = 0.02
"""Of the rise: in so many censuses that follow each other memory differs by no more. A leak is never level."""
MOST_FOR_RISES = 2
MOST_TURNS = (2, 4)
"""Where two steps differ, so many are taken for one, the next time and the one after: several updates follow a rollout
or share a batch."""


class ProfilePlan:
    """Plans for a profiler beside the censuses of the `schedule` of the moment, unless the user has `chosen` the step.
    `training`: an optimizer has stepped."""

    def __init__(self, profiler: StepProfiler, schedule: Callable[[], Schedule], chosen: int | None) -> None:
        self._profiler = profiler
        self._schedule = schedule
        self._chosen = chosen
        self._later_root_planned = False
        self.newest_optimizer = 0
        """The highest number of an optimizer that has stepped."""
        self._later_optimizer_planned = False
        self._bytes = 0
        self._num_for_growth = 0
        self._rises = _LevelRises()
        self._turns = iter(MOST_TURNS)

    def begin(self) -> None:
        """The two steps after warm-up, or those that the user wants."""
        self._profiler.plan(choose_step(self._schedule()) if self._chosen is None else self._chosen)

    def at_first_optimizer_step(self, step: int) -> None:
        """Where the profiled steps began before the first optimizer stepped: two more, of the training.

        Of two steps of which only the second trains the first tells nothing about the second's peak.
        """
        if self._chosen is not None:
            return
        self._profiler.abandon()
        waits = self._later_root_planned and self._profiler.has_not_begun
        if self._profiler.is_over or waits:
            self._profiler.plan(choose_step(self._schedule(), after=step))

    def at_new_optimizer(self, number: int, step: int) -> None:
        """Where the profiled steps were over before an optimizer, by the `number` of its first step, came: two more,
        once. After a warm-up or a first stage another model is trained, with a peak of its own."""
        self.newest_optimizer = number
        if self._chosen is None and self._profiler.is_over and not self._later_optimizer_planned:
            self._later_optimizer_planned = True
            self._profiler.plan(choose_step(self._schedule(), after=step, warm_up=LATER_OPTIMIZER_WARM_UP))

    def at_new_root(self, step: int, *, training: bool) -> None:
        """Without an optimizer, where the profiled steps were over before this root was called first: two more, once.

        A decoder that runs after a generator's loop has a peak of its own.
        """
        if self._is_free(training=training) and not self._later_root_planned:
            self._later_root_planned = True
            self._profiler.plan(choose_step(self._schedule(), after=step, warm_up=LATER_ROOT_WARM_UP))

    def after_census(self, step: int, tensor_bytes: int, *, training: bool) -> None:
        """Where the two steps differed: more of them, taken together, twice at most. Where tensor memory has risen
        since the profiled steps and stays there, or without an optimizer has doubled: two more, twice at most.

        A cache of keys and values is small in the first steps, and what idles beside it at the last ones is not; what a
        preview in the middle of a training leaves was not there at all.
        """
        over = self._chosen is None and self._profiler.is_over
        if over and self._profiler.steps_differed and (turn := next(self._turns, 0)):
            self._plan_next(step, turn=turn)
        elif not self._is_free(training=training):
            self._bytes = tensor_bytes
            if over and self._rises.has_settled(tensor_bytes):
                self._plan_next(step)
        elif tensor_bytes >= GROWN * self._bytes > 0 and self._num_for_growth < MOST_FOR_GROWTH:
            self._num_for_growth += 1
            self._bytes = tensor_bytes
            self._plan_next(step)

    def _plan_next(self, step: int, *, turn: int = 1) -> None:
        self._profiler.plan(choose_step(self._schedule(), after=step, warm_up=1), turn=turn)

    def _is_free(self, *, training: bool) -> bool:
        alone = not training and not optimizer_was_made()
        return self._chosen is None and alone and self._profiler.is_over


class _LevelRises:
    """Memory that rose since the first look and keeps to its new level, a few times."""

    def __init__(self) -> None:
        self._base = 0
        self._last: deque[int] = deque(maxlen=LEVEL_CENSUSES)
        self._left = MOST_FOR_RISES

    def has_settled(self, tensor_bytes: int) -> bool:
        """Whether it has with this look; what is risen from is then the new level."""
        self._base = self._base or tensor_bytes
        self._last.append(tensor_bytes)
        rise = min(self._last) - self._base
        is_level = len(self._last) == LEVEL_CENSUSES and max(self._last) - min(self._last) <= LEVEL_PART * rise
        if not self._left or not is_level or rise < max(RISEN * self._base, LEAST_RISE):
            return False
        self._base, self._left = tensor_bytes, self._left - 1
        return True
