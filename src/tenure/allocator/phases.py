"""The phase of each event of a trace: by torch's frames in its stack, by annotations, by what lies around it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from tenure.allocator.lifetimes import Bools
from tenure.allocator.torch_frames import Phase, has_python, phases_of_stacks
from tenure.model.allocator import NO_STACK, NO_TIME, Action, Events, Snapshot
from tenure.model.heap import Ints

OPTIMIZER_STEP = "Optimizer.step#"
ZERO_GRAD = "Optimizer.zero_grad#"
_NONE = -1
_OF_BLOCKS = (Action.ALLOC, Action.FREE_REQUESTED, Action.FREE_COMPLETED)


@dataclass(frozen=True)
class Stretch:
    """An annotated stretch of time as events: from `first` up to before `last`; equal where none lies in it."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Phases:
    """`phase` has a `Phase` for each event, `run` the number of the unbroken stretch of one phase that it lies in.

    `optimizer_runs` are the stretches in which an optimizer stepped, those in which it asked for no memory among them.
    """

    phase: Ints
    run: Ints
    optimizer_runs: tuple[Stretch, ...]

    def has(self, phase: Phase) -> bool:
        """Whether any event lies in this phase."""
        return bool((self.phase == phase).any())


def annotated(snapshot: Snapshot, device: int) -> tuple[Stretch, ...]:
    """What `record_function` named on this device, as far as it began and ended in the trace; outer ones first."""
    events = snapshot.traces.get(device)
    times = np.zeros(0, dtype=np.int64) if events is None else events.time_us
    if not len(times) or (times == NO_TIME).any():
        return ()
    told = sorted((each for each in snapshot.annotations if each.device == device), key=lambda each: each.time_us)
    underway: list[tuple[str, int]] = []
    found: list[Stretch] = []
    for each in told:
        if each.is_start:
            underway.append((each.name, each.time_us))
        else:
            place = next((at for at in reversed(range(len(underway))) if underway[at][0] == each.name), None)
            if place is not None:
                first, last = np.searchsorted(times, (underway.pop(place)[1], each.time_us), side="left").tolist()
                found.append(Stretch(each.name, first, last))
    return tuple(sorted(found, key=lambda stretch: (stretch.first, -stretch.last)))


def phases_of(snapshot: Snapshot, device: int) -> Phases:
    """The phase of each event. Cost: about a microsecond per ten events, and a few per stack."""
    events = snapshot.traces.get(device)
    if events is None or not len(events):
        none = np.zeros(0, dtype=np.int64)
        return Phases(none, none, ())
    stretches = annotated(snapshot, device)
    phase = _marked(snapshot, events)
    for stretch in stretches:
        named = _phase_of_name(stretch.name)
        if named is not None:
            part = phase[stretch.first : stretch.last]
            part[part == _NONE] = named
    phase = _filled(phase, _of_kinds_without_stacks(events))
    changes = np.flatnonzero(np.diff(phase)) + 1
    run = np.zeros(len(phase), dtype=np.int64)
    run[changes] = 1
    return Phases(phase, np.cumsum(run), _optimizer_runs(phase, stretches))


def _phase_of_name(name: str) -> Phase | None:
    """Of annotations that torch itself writes."""
    if name.startswith(OPTIMIZER_STEP):
        return Phase.OPTIMIZER
    return Phase.ZERO_GRAD if name.startswith(ZERO_GRAD) else None


def _marked(snapshot: Snapshot, events: Events) -> Ints:
    """Phases that stacks tell, -1 where they do not."""
    of_stack = [_NONE if each is None else int(each) for each in phases_of_stacks(snapshot)]
    phase = np.array([*of_stack, _NONE], dtype=np.int64)[events.stack]
    without = _without_python(snapshot, events)
    phase[without & (phase == _NONE)] = Phase.BACKWARD
    return phase


def _without_python(snapshot: Snapshot, events: Events) -> Bools:
    """Events of threads that run no Python, in a trace that has lines of Python elsewhere: autograd's engine.

    The main thread's always have one (pytorch#82146). Events of a kind that has no stacks at all tell nothing.
    """
    python = [has_python([snapshot.frames[row] for row in stack]) for stack in snapshot.stacks]
    has = np.array([*python, False], dtype=np.bool_)[events.stack]
    without = np.zeros(len(events), dtype=np.bool_)
    for action in _OF_BLOCKS:
        chosen = events.action == action
        if (chosen & has).any():
            without |= chosen & ~has
    before = np.cumsum(np.isin(events.action, _OF_BLOCKS) & ~without) > 0
    found: Bools = without & ((events.stack != NO_STACK) | before)  # before: recording of stacks had begun
    return found


def _of_kinds_without_stacks(events: Events) -> Bools:
    """Events of which none of its kind has a stack, as frees where only allocations were recorded with theirs."""
    found = np.zeros(len(events), dtype=np.bool_)
    for action in np.unique(events.action).tolist():
        chosen = events.action == action
        if (events.stack[chosen] == NO_STACK).all():
            found |= chosen
    return found


def _filled(phase: Ints, mute: Bools) -> Ints:
    """What stacks and annotations leave open, by what comes before and after it. `mute` events are as those before;
    where all are, what annotations do not tell is unknown."""
    known = np.flatnonzero(phase != _NONE)
    if not len(known):
        return np.full(len(phase), Phase.UNKNOWN, dtype=np.int64)
    trains = bool((phase == Phase.BACKWARD).any())
    by_modules = bool((phase == Phase.FORWARD).any())
    place = np.searchsorted(known, np.arange(len(phase)), side="right")
    before = np.where(place > 0, phase[known[np.maximum(place - 1, 0)]], _NONE)
    after = np.where(place < len(known), phase[known[np.minimum(place, len(known) - 1)]], _NONE)
    found = np.where(phase != _NONE, phase, Phase.OUTSIDE)
    is_open = phase == _NONE
    inside = (before == after) & np.isin(before, (Phase.BACKWARD, Phase.OPTIMIZER))
    found[is_open & inside] = before[is_open & inside]
    loss = (before == Phase.FORWARD) & np.isin(after, (Phase.FORWARD, Phase.BACKWARD, _NONE))
    without_modules = (after == Phase.BACKWARD) & (before != Phase.BACKWARD)
    found[is_open & (loss if by_modules else without_modules) & trains] = Phase.FORWARD
    return (
        _as_before(found.astype(np.int64), is_open & mute)
        if not mute.all()
        else np.where(is_open, Phase.UNKNOWN, found)
    )


def _as_before(phase: Ints, chosen: Bools) -> Ints:
    """The chosen events' phases as of the last before them that is not chosen; of the first ones as of the next."""
    told = np.flatnonzero(~chosen)
    place = np.searchsorted(told, np.arange(len(phase)), side="right") - 1
    return phase[told[np.maximum(place, 0)]]


def _optimizer_runs(phase: Ints, stretches: tuple[Stretch, ...]) -> tuple[Stretch, ...]:
    """Where optimizers stepped: events in that phase with no forward or backward between, and annotated stretches."""
    found: list[Stretch] = []
    chosen = np.flatnonzero(phase == Phase.OPTIMIZER)
    work = np.cumsum(np.isin(phase, (Phase.FORWARD, Phase.BACKWARD)))
    if len(chosen):
        cuts = np.flatnonzero(np.diff(work[chosen])) + 1
        found += [Stretch("", int(part[0]), int(part[-1]) + 1) for part in np.split(chosen, cuts)]
    for step in (each for each in stretches if each.name.startswith(OPTIMIZER_STEP)):
        place = bisect_left(found, step.first + 1, key=lambda run: run.last)
        if place < len(found) and found[place].first < step.last:
            found[place] = replace(found[place], name=found[place].name or step.name)
        else:
            found.insert(place, step)
    return tuple(found)
