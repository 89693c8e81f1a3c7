"""How much Python a piece of code runs: bytecodes, and calls of functions written in C; the same on every run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any


@dataclass
class Executed:
    """What ran while it was counted, on this thread alone."""

    bytecodes: int = 0
    c_calls: int = 0
    c_names: set[str] = field(default_factory=set)


def count_executed(work: Callable[[], object]) -> Executed:
    """Run `work` once and count; tracers of others (coverage, debuggers) are put back afterwards."""
    found = Executed()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        found.bytecodes += event == "opcode"
        return trace

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            found.c_calls += 1
            found.c_names.add(argument.__name__)

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before[1])
        sys.settrace(before[0])
    return found
