from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tenure.capture.system.host import describe_process
from tenure.store.process_mark import mark_of_process

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not say at which tick a process began"
)


def test_a_process_keeps_its_mark_and_another_one_has_another() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        marks = {describe_process()["process_mark"], mark_of_process(os.getpid()), mark_of_process(child.pid)}
        child.kill()

    assert len(marks) == 2
    assert None not in marks


def test_of_a_process_that_is_not_there_nothing_is_said() -> None:
    assert mark_of_process(2**22 + 1) is None
