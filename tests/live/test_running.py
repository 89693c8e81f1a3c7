"""A recorded process is known by its number, its machine, and that it is older than its recording."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from typing import Any

import psutil
import pytest

from tenure.live.running import is_running

OWN: dict[str, Any] = {
    "pid": os.getpid(),
    "node": platform.node(),
    "time": psutil.Process().create_time() + 5,
}


def test_a_process_that_lives_runs() -> None:
    assert is_running(OWN) is True


def test_a_later_process_of_the_same_number_is_another() -> None:
    assert is_running(OWN | {"time": OWN["time"] - 3600}) is False


def test_of_another_machine_and_of_an_old_recording_nothing_can_be_told() -> None:
    assert is_running(OWN | {"node": "another"}) is None
    assert is_running({"node": platform.node()}) is None


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system cannot wait without asking for the status")
def test_a_process_that_has_ended_does_not_run_even_before_its_parent_has_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE) as ended:
        known = OWN | {"pid": ended.pid, "time": psutil.Process(ended.pid).create_time() + 5}
        assert ended.stdout is not None
        ended.stdout.read()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        as_zombie = is_running(known)
    assert (as_zombie, is_running(known)) == (False, False)
