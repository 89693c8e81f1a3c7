from __future__ import annotations

import gc
import os
import sys

import pytest

from tenure.capture.guarding.collector import collector_rests, interpreter_rests


def test_inside_nothing_is_collected_and_no_thread_comes_between_and_afterwards_all_is_as_before() -> None:
    before = gc.isenabled(), sys.getswitchinterval()
    with interpreter_rests():
        inside = gc.isenabled(), sys.getswitchinterval()
    assert (inside, (gc.isenabled(), sys.getswitchinterval())) == ((False, 60.0), before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that forks")
def test_a_child_that_is_forked_inside_has_both_as_they_were_before() -> None:
    before = gc.isenabled(), sys.getswitchinterval()
    reading, writing = os.pipe()
    with collector_rests(), interpreter_rests():
        child = os.fork()
        if child == 0:
            os.write(writing, repr((gc.isenabled(), sys.getswitchinterval())).encode())
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    answer = os.read(reading, 100).decode()
    os.close(reading)
    assert answer == repr(before)
