"""What befalls a recording is told in it, once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.capture.guarding.forks import fork_ourselves, is_ours
from tenure.capture.sampling.happenings import MOST_TOLD, Happenings
from tenure.capture.system.resident import ResidentMemory


class Scene:
    """A clock that is set, and descriptors that are lost."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self.ahead = 1e9
        self.now = 0.0
        self.lost = False
        self.happenings = Happenings(
            lambda level, text: self.said.append((level, text)),
            lost_descriptors=lambda: self.lost,
            wall=lambda: self.now + self.ahead,
        )

    def look(self) -> list[str]:
        """What is said at this look."""
        self.now += 0.5
        before = len(self.said)
        self.happenings.look(self.now)
        return [text for _, text in self.said[before:]]


@pytest.fixture
def scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.happenings.close()


def test_a_clock_that_is_set_is_told_each_time_and_one_that_is_nudged_is_not(scene: Scene) -> None:
    told = []
    for change in (0.0, 0.4, -0.4, -3600.0, 0.0, 7200.0):
        scene.ahead += change
        told.append(scene.look())
    goes_on = "times here are those of one that goes on"
    assert told == [
        [],
        [],
        [],
        [f"the system's clock was set back by 3,600 s; {goes_on}"],
        [],
        [f"the system's clock was set ahead by 7,200 s, or the machine slept; {goes_on}"],
    ]


def test_a_clock_that_is_set_all_the_time_is_told_some_times(scene: Scene) -> None:
    told = []
    for _ in range(3 * MOST_TOLD):
        scene.ahead -= 5.0
        told += scene.look()
    assert len(told) == MOST_TOLD


def test_descriptors_that_are_lost_are_told_once(scene: Scene) -> None:
    told = [scene.look()]
    scene.lost = True
    told += [scene.look(), scene.look()]
    assert told == [[], ["the program closed descriptors that it did not open: ours was opened anew"], []]


def test_recorders_that_meet_tell_it_once_each_and_one_that_comes_later_meets_none() -> None:
    scenes = [Scene() for _ in range(4)]
    for scene in scenes[:3]:
        scene.happenings.open()
    for scene in scenes[:3]:
        scene.happenings.close()
    scenes[3].happenings.open()
    scenes[3].happenings.close()
    told = "another recorder runs in this process: each counts the other's time as the program's"
    assert [scene.said for scene in scenes] == [[("info", told)]] * 3 + [[]]


def test_a_descriptor_that_the_program_closes_is_noticed_and_opened_anew() -> None:
    memory = ResidentMemory()
    if memory.read() is None:
        pytest.skip("this system does not say it")
    before = memory.was_closed
    os.close(memory._file)
    assert memory.read()
    assert (before, memory.was_closed) == (False, True)
    memory.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_of_ours_is_known_while_it_happens(tmp_path: Path) -> None:
    seen: list[bool] = []
    watching = [True]
    os.register_at_fork(after_in_parent=lambda: seen.append(is_ours()) if watching else None)
    for fork in (fork_ourselves, os.fork):
        child = fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    watching.clear()
    assert (seen, is_ours()) == ([True, False], False)
