"""Closer looks: two censuses when a counter begins to grow, told, paid for from the budget, and seldom."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from capture.recorder import CensusLog, recording
from capture.sampling.test_between_steps import make_step
from tenure.capture.sampling.closer_looks import LOOK_SECONDS, REST_SECONDS, CloserLooks
from tenure.model.recording import GROWS
from tenure.store.recording_file import open_recording

KIB = 1 << 10


class Run:
    """A run whose allocator's bytes are told, with half a second between its steps."""

    def __init__(self, *, allowed: bool = True) -> None:
        self.notes: list[str] = []
        self.looks = CloserLooks(lambda level, text: self.notes.append(text), allowed=lambda: allowed)
        self.step, self.held, self.taken = 0, 1 << 30, []
        self.affordable = True

    def train(self, steps: int, *, keeps: int, seconds: float = 0.5) -> None:
        for _ in range(steps):
            self.step += 1
            self.held += keeps
            self.looks.take_step(self.step, {"allocated_bytes": self.held})
            if self.looks.is_due(self.step, lambda: self.affordable):
                self.taken.append(self.step)
            self.looks.look(self.step * seconds)


def test_a_trend_brings_two_looks_and_a_note() -> None:
    run = Run()
    run.train(400, keeps=0)
    run.train(600, keeps=4 * KIB)

    first, second = run.taken
    (note,) = run.notes
    assert 400 < first < second
    assert note.startswith(f"{GROWS} allocated memory by about ")
    assert note.endswith(f"two closer looks come, {second - first} steps apart")


def test_a_run_that_does_not_grow_has_none() -> None:
    run = Run()
    run.train(3000, keeps=0)

    assert (run.taken, run.notes) == ([], [])


def test_growth_that_goes_on_is_looked_at_again_when_the_run_is_twice_as_long() -> None:
    run = Run()
    run.train(6000, keeps=4 * KIB, seconds=10.0)

    assert run.taken == [194, 241, 514, 638, 1026, 1150, 2050, 2174, 4098, 4222]
    assert len(run.notes) == 5


def test_growth_within_minutes_of_the_last_look_is_left_to_the_next() -> None:
    run = Run()
    run.train(6000, keeps=4 * KIB, seconds=0.9 * REST_SECONDS / 6000)

    assert len(run.notes) == 1


def test_a_look_waits_until_it_may_be_paid_for_and_that_is_said_once() -> None:
    run = Run()
    run.affordable = False
    run.train(400, keeps=4 * KIB)
    before = list(run.taken)
    run.affordable = True
    run.train(100, keeps=0)

    assert (before, run.taken) == ([], [401, 450])
    assert run.notes[1:] == [f"{GROWS} the closer look waits until it is within its share of the time"]


def test_where_none_is_allowed_growth_is_noted_all_the_same() -> None:
    run = Run(allowed=False)
    run.train(400, keeps=4 * KIB)

    (note,) = run.notes
    assert run.taken == []
    assert note.endswith("; no closer looks, for with several ranks, or at chosen steps, censuses keep to their steps")


def test_trends_are_looked_for_each_few_seconds_and_not_at_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    run, asked = Run(), []
    monkeypatch.setattr(run.looks._watch, "look", lambda: asked.append(1))
    for half in range(100):
        run.looks.look(half / 2)

    assert len(asked) == 50 / LOOK_SECONDS


class Growing:
    """Counters of a program that keeps more at each step."""

    def __init__(self, recorder: object) -> None:
        self.step = 0
        self.device_uuid = None
        self.last: dict[str, int] = {}

    def read_after_step(self, step: int, seconds: float, *, wanted: bool = False) -> dict[str, int]:
        self.last = {"allocated_bytes": (1 << 30) + 4 * KIB * step}
        return self.last


@pytest.mark.parametrize("several_ranks", [False, True])
def test_a_recorder_takes_them_at_steps_ends_and_keeps_to_the_schedule_with_several_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, several_ranks: bool
) -> None:
    if several_ranks:
        monkeypatch.setenv("RANK", "0")
        monkeypatch.setenv("WORLD_SIZE", "2")
    step, log = make_step(), CensusLog()
    later = time.perf_counter() + 1000  # than the recorder's own thread looks
    with recording(tmp_path, log, budget_percent=100.0) as monitor:
        monitor._recorder._counters = Growing(monitor)  # type: ignore[assignment]
        for number in range(1, 301):
            step()
            monitor._recorder._samples._closer.look(later + 10 * number)

    extra = [at for at, moment in log.calls if moment == "step-end" and at not in PLANNED]
    notes = [note for note in open_recording(tmp_path).notes if note.text.startswith(GROWS)]
    assert len(extra) == (0 if several_ranks else 2)
    assert len(notes) == 1


PLANNED = {1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44, 64, 95, 128, 193, 256}
