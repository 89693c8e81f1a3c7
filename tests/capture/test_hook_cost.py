"""What the recorder executes in the program's thread at each step: counted, so that no load of the machine matters.

Bounds: 0.3 % of a step of 50 ms are 150 microseconds, 2 % of one of 5 ms are 100. `benchmarks/watching.py` measured 11
microseconds for a step marked in code, of 1,000 bytecodes under CPython 3.11, what they call included. Between torch's
operations the same takes five times as long, a file that is opened and read 35 to 50 microseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
import torch

from capture.instructions import count_executed
from capture.recorder import CensusLog, recording

MOST_MARKED, MOST_FOUND, MOST_QUIET = 600, 5_000, 900
"""Bytecodes, at 20 ns 12, 100 and 18 microseconds: of a step marked in code, of one that hooks find with the calls of
modules watched in it, and of one found with nobody watching and nothing to decide."""
MOST_C_CALLS = 150


def test_a_step_marked_in_code_costs_so_little_python(tmp_path: Path) -> None:
    with recording(tmp_path, CensusLog(), census_at=(), profile_step=0) as monitor:
        for _ in range(30):
            monitor.end_step()

        def one() -> None:
            monitor._recorder._clock.leave_out(-0.05)
            monitor.end_step()

        counted = [count_executed(one) for _ in range(21)]

    assert median(each.bytecodes for each in counted) <= MOST_MARKED
    assert median(each.c_calls for each in counted) <= MOST_C_CALLS


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from a file on Linux only")
def test_a_step_outside_of_the_schedule_reads_resident_memory_and_opens_no_file(tmp_path: Path) -> None:
    with recording(tmp_path, CensusLog(), census_at=(), profile_step=0) as monitor:
        for _ in range(33):
            monitor.end_step()
        monitor._recorder._clock.leave_out(-0.05)
        counted = count_executed(monitor.end_step)  # an even one: read on a machine too slow for a reading after each

    assert {name for name in counted.c_names if "open" in name or "read" in name} == {"pread"}


def a_step() -> Callable[[], None]:
    """A step of a small training, run a few times before."""
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(5):
        step()
    return step


def test_a_step_that_hooks_find_costs_so_little_more_than_without_them(tmp_path: Path) -> None:
    step = a_step()
    plain = [count_executed(step) for _ in range(9)]
    with recording(tmp_path, CensusLog(), census_at=(), profile_step=0) as monitor:
        for _ in range(30):
            step()

        def one() -> None:
            monitor._recorder._clock.leave_out(-0.05)
            step()

        watched = [count_executed(one) for _ in range(21)]

    extra = median(each.bytecodes for each in watched) - median(each.bytecodes for each in plain)
    assert extra <= MOST_FOUND
    assert median(each.c_calls for each in watched) - median(each.c_calls for each in plain) <= MOST_C_CALLS


def test_a_step_that_hooks_find_with_nothing_to_decide_costs_a_fourth_of_that(tmp_path: Path) -> None:
    step = a_step()
    plain = [count_executed(step) for _ in range(9)]
    with recording(tmp_path, CensusLog(), census_at=(), profile_step=0) as monitor:
        monitor._modules.cost.num_calls = 10**9
        for _ in range(130):
            step()

        def one() -> None:
            monitor._recorder._clock.leave_out(-0.05)
            step()

        quiet = [count_executed(one) for _ in range(21)]

    assert not monitor._modules.is_watching
    extra = median(each.bytecodes for each in quiet) - median(each.bytecodes for each in plain)
    assert extra <= MOST_QUIET
