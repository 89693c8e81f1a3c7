"""A recorded process is known by its machine, its number, and when it began."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from typing import Any

import psutil
import pytest

from tenure.live.running import is_running
from tenure.store.process_mark import mark_of_process

OWN: dict[str, Any] = {
    "pid": os.getpid(),
    "node": platform.node(),
    "process_mark": mark_of_process(os.getpid()),
    "time": psutil.Process().create_time() + 5,
}
UNMARKED = OWN | {"process_mark": None}


def test_a_process_that_lives_runs() -> None:
    assert is_running(OWN) is True


@pytest.mark.skipif(OWN["process_mark"] is None, reason="this system does not say at which tick a process began")
def test_a_process_runs_on_when_the_clock_is_set_back_or_forward() -> None:
    assert [is_running(OWN | {"time": OWN["time"] + moved}) for moved in (-3600, 3600)] == [True, True]


@pytest.mark.skipif(OWN["process_mark"] is None, reason="this system does not say at which tick a process began")
def test_a_later_process_of_the_same_number_has_another_mark() -> None:
    assert is_running(OWN | {"process_mark": mark_of_process(os.getppid())}) is False


def test_without_a_mark_a_process_that_began_after_the_recording_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: 1000.0)
    assert [is_running(UNMARKED | {"time": time}) for time in (1005.0, 995.0)] == [True, False]


def test_of_another_machine_and_of_an_old_recording_nothing_can_be_told() -> None:
    assert is_running(OWN | {"node": "another"}) is None
    assert is_running({"node": platform.node()}) is None


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system cannot wait without asking for the status")
def test_a_process_that_has_ended_does_not_run_even_before_its_parent_has_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE) as ended:
        known = {
            **OWN,
            "pid": ended.pid,
            "process_mark": mark_of_process(ended.pid),
            "time": psutil.Process(ended.pid).create_time() + 5,
        }
        assert ended.stdout is not None
        ended.stdout.read()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        as_zombie = is_running(known)
    assert (as_zombie, is_running(known)) == (False, False)
