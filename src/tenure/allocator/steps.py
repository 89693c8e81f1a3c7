"""The steps of a trace: where one ends and the next begins, and what says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from tenure.allocator.lifetimes import Lives
from tenure.allocator.period import period_of
from tenure.allocator.phases import Phases, Stretch, annotated
from tenure.allocator.torch_frames import Phase, caller_of
from tenure.model.allocator import NO_STACK, Snapshot
from tenure.model.heap import Ints

PROFILER_STEP = "ProfilerStep#"
_MOST_RISE = 0.5
"""Of a period's swing, from one low point to the next: what rises by more is one climb, as through a model's layers."""

_LEAST_SWING = 0.5
"""Of all of a trace's: what moves memory by less is a loop inside of a step, as over an optimizer's parameters."""


class Basis(Enum):
    """What the ends of steps were found by."""

    ANNOTATIONS = "annotations"
    OPTIMIZER = "optimizer"
    BACKWARD = "backward"
    CALLS = "calls"
    PERIOD = "period"
    NONE = "none"


@dataclass(frozen=True)
class Steps:
    """`ends` are the events before which a step is over; steps are counted from 0; the first and last may be cut."""

    ends: tuple[int, ...]
    basis: Basis

    def of(self, events: Ints) -> Ints:
        """The step that each event lies in; of BEFORE it is 0."""
        return np.searchsorted(np.array(self.ends, dtype=np.int64), events, side="right").astype(np.int64)

    @property
    def last(self) -> int:
        """The number of the step that the trace ends in."""
        return len(self.ends)


def steps_of(snapshot: Snapshot, device: int, phases: Phases, lives: Lives) -> Steps:
    """Where steps end: the profiler's annotations, else an optimizer's last step before the next forward, else the end
    of backward, else calls of modules from outside, else the low point of each period in which the same is asked for.
    """
    profiled = [each.last for each in annotated(snapshot, device) if each.name.startswith(PROFILER_STEP)]
    if profiled:
        return _inside(profiled, lives, Basis.ANNOTATIONS)
    if phases.optimizer_runs:
        runs = _last_of_each_turn(snapshot, device, phases.optimizer_runs)
        return _inside([run.last for run in runs], lives, Basis.OPTIMIZER)
    if phases.has(Phase.BACKWARD):
        return _inside(_ends_of_backward(phases), lives, Basis.BACKWARD)
    if phases.has(Phase.FORWARD):
        return _inside([run.last for run in _last_of_each_turn(snapshot, device, _calls(phases))], lives, Basis.CALLS)
    return _inside(_ends_of_periods(lives), lives, Basis.PERIOD)


def _inside(ends: Sequence[int], lives: Lives, basis: Basis) -> Steps:
    found = tuple(sorted({end for end in ends if 0 < end < lives.num_events}))
    return Steps(found, basis if found else Basis.NONE)


def _last_of_each_turn(snapshot: Snapshot, device: int, runs: Sequence[Stretch]) -> Sequence[Stretch]:
    """Where several optimizers, or modules, take turns: the last one's runs."""
    keys = [_key(snapshot, device, run) for run in runs]
    turn = next((size for size in range(1, len(keys) // 2 + 1) if keys[size:] == keys[:-size]), 1)
    return runs[turn - 1 :: turn]


def _key(snapshot: Snapshot, device: int, run: Stretch) -> str:
    """What tells one optimizer's steps from another's: the line that calls it, or its annotation."""
    stacks = snapshot.traces[device].stack[run.first : run.last]
    told = stacks[stacks != NO_STACK]
    caller = caller_of([snapshot.frames[row] for row in snapshot.stacks[int(told[-1])]]) if len(told) else None
    return run.name if caller is None else f"{caller.file}:{caller.line}"


def _ends_of_backward(phases: Phases) -> list[int]:
    """After backward, before the next forward: runs of autograd that follow each other belong together."""
    chosen = np.flatnonzero(np.isin(phases.phase, (Phase.FORWARD, Phase.BACKWARD)))
    kinds = phases.phase[chosen]
    last = np.flatnonzero((kinds[:-1] == Phase.BACKWARD) & (kinds[1:] == Phase.FORWARD))
    found: list[int] = (chosen[last] + 1).tolist()
    return found


def _calls(phases: Phases) -> list[Stretch]:
    """Calls of modules, as far as something else lies between them."""
    bounds = [0, *(np.flatnonzero(np.diff(phases.run)) + 1).tolist(), len(phases.run)]
    return [Stretch("", first, last) for first, last in pairwise(bounds) if phases.phase[first] == Phase.FORWARD]


def _ends_of_periods(lives: Lives) -> list[int]:
    """Low points of memory in use, a period apart; none where they are a climb, or small."""
    born = np.flatnonzero(~lives.is_earlier)
    requests = lives.bytes[born] * (int(lives.stack.max(initial=0)) + 2) + lives.stack[born] + 1
    length = period_of(requests)
    if length is None:
        return []
    in_use = _in_use_before(lives, lives.born[born])
    last = in_use[-length:]
    low = int(np.argmin(last)) + len(born) - length
    full = in_use + lives.bytes[born]
    rise, swing = abs(int(in_use[low] - in_use[low - length])), int(full[-length:].max() - last.min())
    if rise > _MOST_RISE * swing or swing < _LEAST_SWING * int(full.max() - in_use.min()):
        return []
    found: list[int] = lives.born[born[low % length or length :: length]].tolist()
    return found


def _in_use_before(lives: Lives, events: Ints) -> Ints:
    """Bytes in use before each of these events."""
    changes = np.zeros(lives.num_events + 1, dtype=np.int64)
    np.add.at(changes, lives.born[~lives.is_earlier] + 1, lives.bytes[~lives.is_earlier])
    np.subtract.at(changes, lives.freed[~lives.is_left] + 1, lives.bytes[~lives.is_left])
    return np.cumsum(changes)[events]
