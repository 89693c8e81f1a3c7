"""SIGUSR2 brings a census where it is nobody's, and stays the program's where it is."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capture.recorder import CensusLog, recording
from capture.sampling.test_between_steps import make_step, wait_until
from tenure.capture.sampling import between_steps
from tenure.capture.sampling.census_signal import TAKEN, CensusSignal
from tenure.store.recording_file import open_recording


@pytest.fixture(autouse=True)
def _as_programs_start() -> Iterator[None]:
    before = signal.signal(signal.SIGUSR2, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGUSR2, before)


def send() -> None:
    signal.raise_signal(signal.SIGUSR2)


def test_a_signal_brings_a_census_at_the_next_steps_end(tmp_path: Path) -> None:
    step, log = make_step(), CensusLog()
    with recording(tmp_path, log, census_at=(9,)):
        step()
        send()
        step()
        step()

    assert log.calls == [(2, "request")]
    assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL


def test_a_recorder_within_another_takes_a_census_too_and_leaves_the_signal_to_it(tmp_path: Path) -> None:
    step, outer, inner = make_step(), CensusLog(), CensusLog()
    with recording(tmp_path / "outer", outer, census_at=(9,)):
        step()
        with recording(tmp_path / "inner", inner, census_at=(9,)):
            step()
            send()
            step()
        send()
        step()

    assert (outer.calls, inner.calls) == ([(3, "request"), (4, "request")], [(2, "request")])
    assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL


def test_a_handler_of_the_programs_stays_and_the_recording_says_so(tmp_path: Path) -> None:
    step, log, came = make_step(), CensusLog(), []

    def requeue(number: int, frame: object) -> None:
        came.append(number)

    signal.signal(signal.SIGUSR2, requeue)
    with recording(tmp_path, log, census_at=(9,)):
        step()
        send()
        step()

    assert (came, log.calls) == ([signal.SIGUSR2], [])
    assert signal.getsignal(signal.SIGUSR2) is requeue
    assert [note.text for note in open_recording(tmp_path).notes if "SIGUSR2" in note.text] == [
        "SIGUSR2 is the program's own: it brings no census, `tenure watch --census` does"
    ]


def test_a_handler_that_comes_later_is_said_once() -> None:
    listening = CensusSignal()
    said = [listening.find_displaced(), listening.open(), listening.find_displaced()]
    signal.signal(signal.SIGUSR2, lambda number, frame: None)
    try:
        said += [listening.find_displaced(), listening.find_displaced()]
    finally:
        listening.close()

    assert said == [None, None, None, TAKEN, None]


def test_a_handler_that_the_program_sets_later_takes_our_place_and_stays(tmp_path: Path) -> None:
    step, log, came = make_step(), CensusLog(), []

    def requeue(number: int, frame: object) -> None:
        came.append(number)

    with recording(tmp_path, log, census_at=(9,)):
        step()
        signal.signal(signal.SIGUSR2, requeue)
        send()
        step()

    assert (came, log.calls) == ([signal.SIGUSR2], [])
    assert signal.getsignal(signal.SIGUSR2) is requeue


@pytest.mark.parametrize("handler", [signal.SIG_IGN, None], ids=["ignored", "handled in C"])
def test_a_signal_that_is_ignored_or_handled_in_c_is_left_alone(handler: Any) -> None:
    if handler is None:
        faulthandler.register(signal.SIGUSR2, file=2)
    else:
        signal.signal(signal.SIGUSR2, handler)
    try:
        said = CensusSignal().open()
    finally:
        faulthandler.unregister(signal.SIGUSR2)

    assert said == "SIGUSR2 is the program's own: it brings no census, `tenure watch --census` does"


def test_on_another_thread_no_handler_is_set() -> None:
    said: list[str | None] = []
    thread = threading.Thread(target=lambda: said.append(CensusSignal().open()))
    thread.start()
    thread.join()

    assert said == ["SIGUSR2 brings no census, for steps are not made on the main thread; `tenure watch --census` does"]
    assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_the_signal_as_before(tmp_path: Path) -> None:
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,)):
        step()
        child = os.fork()
        if child == 0:
            os._exit(signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        assert signal.getsignal(signal.SIGUSR2) is not signal.SIG_DFL


def test_after_a_failure_of_ours_the_signal_does_no_harm(tmp_path: Path) -> None:
    step = make_step()
    with recording(tmp_path, CensusLog(), census_at=(9,)) as monitor:
        step()
        monitor._guard.switch_off("planted")
        send()
        step()


def test_that_no_step_comes_is_said_once_for_each_wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.capture.sampling.sampler.FLUSH_SECONDS", 0.001)
    monkeypatch.setattr(between_steps, "PATIENCE_SECONDS", 0.0)
    step, log = make_step(), CensusLog()

    def said() -> list[int | None]:
        return [note.step for note in open_recording(tmp_path).notes if "no step has ended since" in note.text]

    with recording(tmp_path, log, census_at=(9,)):
        step()
        for number in (1, 2):
            send()
            wait_until(lambda number=number: len(said()) == number)
            step()

    assert (said(), log.calls) == ([1, 2], [(2, "request"), (3, "request")])
