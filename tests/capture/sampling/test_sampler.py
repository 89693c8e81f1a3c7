"""The thread between steps: what it does when, and that neither forks, failures nor the program's threads meet it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from tenure.capture.guarding.own_threads import OWN_THREADS
from tenure.capture.sampling.sampler import SHARE, Sampler

WAIT = 30.0


@dataclass
class Rows:
    samples: list[tuple[int, dict[str, int]]] = field(default_factory=list)
    num_flushes: int = 0
    asked: bool = False
    came: threading.Event = field(default_factory=threading.Event)

    def write_sample(self, step: int, *, time: float, seconds: float, counters: dict[str, int]) -> None:
        self.samples.append((step, counters))
        self.came.set()

    def flush_if_due(self, *, seconds: float) -> None:
        self.num_flushes += 1

    def take_request(self) -> bool:
        asked, self.asked = self.asked, False
        return asked

    def wait(self) -> None:
        self.came.clear()
        assert self.came.wait(WAIT)


@dataclass
class Scene:
    rows: Rows = field(default_factory=Rows)
    failures: list[str] = field(default_factory=list)
    busy: bool = False
    step: int = 3

    def sampler(self, read: Callable[[], dict[str, int]] = lambda: {"rss_bytes": 1}) -> Sampler:
        return Sampler(
            self.rows,
            read,
            current_step=lambda: self.step,
            is_busy=lambda: self.busy,
            on_failure=lambda error: self.failures.append(str(error)),
            start=0.0,
        )


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def running(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sampler]:
    """One that looks without a pause, for tests do not wait."""
    monkeypatch.setattr("tenure.capture.sampling.sampler.FLUSH_SECONDS", 0.001)
    monkeypatch.setattr("tenure.capture.sampling.sampler.SAMPLE_SECONDS", 0.0)
    monkeypatch.setattr("tenure.capture.sampling.sampler.SHARE", 1.0)
    sampler = scene.sampler()
    sampler.start()
    scene.rows.wait()
    yield sampler
    sampler.pause()


def test_samples_lie_a_second_apart_and_each_look_writes_what_waits(scene: Scene) -> None:
    sampler = scene.sampler()
    now = time.perf_counter()
    for half in range(5):
        sampler.look(now + half / 2)
        scene.step += 1

    assert scene.rows.samples == [(3, {"rss_bytes": 1}), (5, {"rss_bytes": 1}), (7, {"rss_bytes": 1})]
    assert scene.rows.num_flushes == 5


def test_where_reading_is_slow_samples_are_rarer(scene: Scene) -> None:
    sampler = scene.sampler()
    took = 10
    long_ago = time.perf_counter() - took
    sampler.look(long_ago)
    sampler.look(long_ago + 0.9 * took / SHARE)
    sampler.look(long_ago + 2 * took / SHARE)

    assert len(scene.rows.samples) == 2


def test_nothing_is_read_while_the_recorder_takes_a_census(scene: Scene) -> None:
    scene.busy = True
    scene.sampler().look(time.perf_counter())

    assert (scene.rows.samples, scene.rows.num_flushes) == ([], 1)


def test_a_census_that_is_asked_for_is_wanted_until_it_is_taken(scene: Scene) -> None:
    sampler = scene.sampler()
    wanted = []
    for scene.rows.asked in (False, True, False):
        sampler.look(time.perf_counter())
        wanted.append(sampler.census_wanted)

    assert wanted == [False, True, True]


def test_the_thread_is_known_to_us_and_not_to_the_program(running: Sampler) -> None:
    assert len(OWN_THREADS) == 1
    assert OWN_THREADS.isdisjoint(thread.ident for thread in threading.enumerate())
    running.pause()
    assert set() == OWN_THREADS


def test_a_reading_that_fails_is_told_once_and_ends_the_thread(scene: Scene) -> None:
    told = threading.Event()

    def fail() -> dict[str, int]:
        raise ValueError("planted")

    sampler = scene.sampler(fail)
    sampler._on_failure = lambda error: (scene.failures.append(str(error)), told.set())[0]
    sampler.start()

    assert told.wait(WAIT)
    assert scene.failures == ["planted"]
    assert not sampler.pause()


def test_a_sampler_that_nobody_has_any_more_ends(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.sampling.sampler.FLUSH_SECONDS", 0.001)
    sampler = scene.sampler()
    sampler.start()
    scene.rows.wait()
    del sampler

    deadline = time.monotonic() + WAIT
    while OWN_THREADS and time.monotonic() < deadline:
        time.sleep(0.001)
    assert set() == OWN_THREADS


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_finds_no_thread_of_ours_and_the_parent_goes_on(running: Sampler, scene: Scene) -> None:
    threads_in_children = []
    for _ in range(5):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, bytes([len(OWN_THREADS), running.pause()]))
            os._exit(0)
        os.waitpid(child, 0)
        threads_in_children.append(tuple(os.read(reading, 2)))
        os.close(reading)
        os.close(writing)
    before = len(scene.rows.samples)
    scene.rows.wait()
    scene.rows.wait()

    assert threads_in_children == [(0, 0)] * 5
    assert (running.num_forks, scene.rows.samples[-1][1]["num_forks"]) == (5, 5)
    assert len(scene.rows.samples) > before
    assert len(OWN_THREADS) == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_does_not_wait_for_a_reading_that_hangs(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.sampling.sampler.LONGEST_WAIT", 0.01)
    hangs, released = threading.Event(), threading.Event()

    def hang() -> dict[str, int]:
        hangs.set()
        released.wait(WAIT)
        return {}

    sampler = scene.sampler(hang)
    sampler.start()
    assert hangs.wait(WAIT)
    child = os.fork()
    if child == 0:
        os._exit(0)
    done, status = os.waitpid(child, 0)
    released.set()
    sampler.pause()

    assert (done, status, scene.failures) == (child, 0, [])
