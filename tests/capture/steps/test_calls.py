from __future__ import annotations

import sys
from threading import Thread
from types import SimpleNamespace

from tenure.capture.steps.calls import RunningSteps


def wrapper(steps: RunningSteps, inner: object = None, *, fails: bool = False) -> list[bool]:
    """An optimizer's step as torch's own function of this name runs it; whether each that ended was nested."""
    steps.begin()
    found = list(inner()) if callable(inner) else []
    if fails:
        raise ValueError
    return [*found, steps.end(sys._getframe())]


def test_a_step_within_anothers_is_nested_and_the_outer_is_not() -> None:
    steps = RunningSteps()

    assert wrapper(steps) == [False]
    assert wrapper(steps, lambda: wrapper(steps) + wrapper(steps)) == [True, True, False]
    assert wrapper(steps, lambda: wrapper(steps, lambda: wrapper(steps))) == [True, True, False]


def test_steps_that_raised_leave_the_next_ones_as_they_are() -> None:
    steps = RunningSteps()

    def inner() -> list[bool]:
        try:
            return wrapper(steps, fails=True)
        except ValueError:
            return wrapper(steps)

    assert inner() == [False]
    assert wrapper(steps, inner) == [True, False]
    assert [wrapper(steps), wrapper(steps, lambda: wrapper(steps))] == [[False], [True, False]]


def test_the_usual_step_does_not_look_at_the_stack() -> None:
    steps = RunningSteps()
    steps.begin()

    assert not steps.end(SimpleNamespace())


def test_each_thread_has_steps_of_its_own() -> None:
    steps, found = RunningSteps(), []
    steps.begin()
    thread = Thread(target=lambda: found.extend(wrapper(steps, lambda: wrapper(steps))))
    thread.start()
    thread.join()

    assert found == [True, False]
    assert not steps.end(SimpleNamespace())
