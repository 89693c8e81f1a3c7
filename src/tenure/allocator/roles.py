"""What each block was for, by how long it lived: born and freed in which phase, and how many steps later.

Names of functions of the program's own say nothing. What neither lifetime nor size tells is UNKNOWN.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from enum import IntEnum

import numpy as np

from tenure.allocator.lifetimes import Bools, Lives
from tenure.allocator.phases import Phases
from tenure.allocator.steps import Basis, Steps
from tenure.allocator.torch_frames import Phase, asks_for_workspace, moves_module, phase_of_frames
from tenure.model.allocator import NO_STACK, Snapshot
from tenure.model.heap import Ints


class BlockRole(IntEnum):
    """What a block was for.

    RESIDENT lives across steps: parameters, buffers, caches, as far as sizes do not tell which. SURVIVOR was born in a
    step and outlived the one after it. OUTPUT outlives its backward, as a loss or logits. KEPT_BY_FORWARD was born in a
    forward and is there at the end, before any backward came: activations, or what a model gives back. WORKSPACE is the
    scratch memory that torch keeps for cuBLAS.
    """

    UNKNOWN = 0
    PARAMETER = 1
    OPTIMIZER_STATE = 2
    RESIDENT = 3
    GRADIENT = 4
    ACTIVATION = 5
    KEPT_BY_FORWARD = 6
    INPUT = 7
    OUTPUT = 8
    TEMPORARY = 9
    SURVIVOR = 10
    WORKSPACE = 11


_ENOUGH = 0.95
"""Of the bytes of gradients: where blocks that live across steps match so many of their sizes they are parameters."""

_OFTEN = 3
_MOST_ENDS = 64
"""Of backward: so many are looked at for the sizes of gradients."""


def roles_of(snapshot: Snapshot, lives: Lives, phases: Phases, steps: Steps, errors: Ints) -> Ints:
    """A `BlockRole` for each row of `lives`; `errors` are the events at which memory ran out.

    All are UNKNOWN where neither phases nor steps are known.
    """
    if steps.basis is Basis.NONE and not (phases.phase != Phase.UNKNOWN).any():
        return np.full(len(lives), BlockRole.UNKNOWN, dtype=np.int64)
    lives = _as_if_errors_had_ended_it(lives, errors, steps)
    role = _by_lifetime(_Born(lives, phases, steps))
    _by_stack(snapshot, lives, role)
    _as_their_stack_before(lives, steps, role)
    _by_size(lives, phases, role)
    return role


def _as_if_errors_had_ended_it(lives: Lives, errors: Ints, steps: Steps) -> Lives:
    """What is freed after an error of memory in the same step, or before anything else is asked for, is freed because
    of it: that says nothing of its use."""
    freed = lives.freed.copy()
    for error in errors.tolist():
        rows = lives.in_use_after(error)
        later = lives.born[lives.born > error]
        at_once = lives.freed[rows] < (later.min() if len(later) else lives.num_events)
        of_step = steps.of(lives.freed[rows]) == steps.of(np.array([error]))
        freed[rows[of_step | at_once]] = lives.num_events
    return replace(lives, freed=freed)


class _Born:
    """Columns of `lives` by phase and step: where each was born and freed, and what lies between."""

    def __init__(self, lives: Lives, phases: Phases, steps: Steps) -> None:
        self.lives, self.phases, self.steps = lives, phases, steps
        last = lives.num_events
        phase = np.append(phases.phase, [_AT_END, _EARLIER]).astype(np.int64)  # rows `last` and -1
        run = np.append(phases.run, [-1, -2])
        self.phase, self.freed = phase[lives.born], phase[lives.freed]
        self.in_one_run = run[lives.born] == run[lives.freed]
        self.step = steps.of(lives.born)
        self.steps_lived = steps.of(np.minimum(lives.freed, last)) - self.step
        self.backwards_lived = self._runs_between(Phase.BACKWARD)
        self.forwards_lived = self._runs_between(Phase.FORWARD)

    def _runs_between(self, phase: Phase) -> Ints:
        """Runs of a phase that began in each life and ended in it, or the trace with it."""
        phases, lives = self.phases, self.lives
        is_phase = phases.phase == phase
        begins = is_phase & np.append(True, np.diff(phases.run) != 0) if len(is_phase) else is_phase
        begun = np.append(0, np.cumsum(begins)).astype(np.int64)
        found: Ints = begun[np.minimum(lives.freed, lives.num_events)] - begun[lives.born + 1]
        return found


_AT_END, _EARLIER = -1, -2


def _by_lifetime(born: _Born) -> Ints:
    """Rules in their order: of several that hold for a row the last counts."""
    lives = born.lives
    earlier, left = lives.is_earlier, lives.is_left
    role = np.full(len(lives), BlockRole.UNKNOWN, dtype=np.int64)
    across = born.steps_lived >= 2
    ends_in_backward = bool(len(born.phases.phase)) and born.phases.phase[-1] == Phase.BACKWARD

    outside = born.phase == Phase.OUTSIDE
    role[outside & ~left & (born.forwards_lived > 0)] = BlockRole.INPUT
    forward = born.phase == Phase.FORWARD
    role[forward & ~left & (born.backwards_lived == 0)] = BlockRole.TEMPORARY
    role[forward & (born.backwards_lived > 0)] = BlockRole.OUTPUT
    role[forward & (born.freed == Phase.BACKWARD) & (born.steps_lived == 0)] = BlockRole.ACTIVATION
    role[forward & left & (born.backwards_lived == 0)] = BlockRole.KEPT_BY_FORWARD
    if ends_in_backward:
        role[forward & left & (born.backwards_lived == 1)] = BlockRole.ACTIVATION
    role[born.phase == Phase.BACKWARD] = BlockRole.GRADIENT
    role[(born.phase == Phase.UNKNOWN) & (born.freed == Phase.ZERO_GRAD)] = BlockRole.GRADIENT
    optimizer = born.phase == Phase.OPTIMIZER
    role[optimizer & (left | (born.freed == Phase.OPTIMIZER))] = BlockRole.OPTIMIZER_STATE
    role[born.in_one_run & (born.phase != Phase.UNKNOWN) & ~earlier] = BlockRole.TEMPORARY

    role[across & ~earlier] = BlockRole.SURVIVOR
    role[_first_of_their_kind(born) & across & ~earlier] = BlockRole.RESIDENT
    role[optimizer & across & _first_of_their_kind(born)] = BlockRole.OPTIMIZER_STATE
    kept = (born.phase == Phase.BACKWARD) & across & _first_of_their_kind(born)
    if np.count_nonzero(kept) >= np.count_nonzero(~across & (role == BlockRole.GRADIENT) & ~left):
        role[kept] = BlockRole.GRADIENT  # zero_grad(set_to_none=False); else gradients go, and these are others

    role[earlier & (born.freed == Phase.BACKWARD)] = BlockRole.ACTIVATION
    role[earlier & (born.freed == Phase.ZERO_GRAD)] = BlockRole.GRADIENT
    states = np.unique(lives.bytes[role == BlockRole.OPTIMIZER_STATE])
    role[earlier & (born.freed == Phase.OPTIMIZER) & np.isin(lives.bytes, states)] = BlockRole.OPTIMIZER_STATE
    role[earlier & left] = BlockRole.RESIDENT
    return role


def _first_of_their_kind(born: _Born) -> Bools:
    """Born in the first step in which their phase occurs, from a stack from which none born later stays as long; where
    steps are told by their period alone, whatever does not come again in three of them."""
    lives, across = born.lives, born.steps_lived >= 2
    first_of: dict[int, int] = {}
    for phase, step in zip(born.phase.tolist(), born.step.tolist(), strict=True):
        first_of.setdefault(phase, step)
    first = np.array([first_of[phase] for phase in born.phase.tolist()], dtype=np.int64)
    is_first = born.step <= first
    rows = list(zip(lives.stack.tolist(), lives.bytes.tolist(), strict=True))
    steps: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for row in np.flatnonzero(across).tolist():
        steps[rows[row]].add(int(born.step[row]))
    if born.steps.basis is Basis.PERIOD:
        return np.array([len(steps.get(row, ())) < _OFTEN for row in rows], dtype=np.bool_)
    again = {rows[row] for row in np.flatnonzero(across & ~is_first).tolist()}
    return is_first & np.array([row not in again for row in rows], dtype=np.bool_)


def _by_stack(snapshot: Snapshot, lives: Lives, role: Ints) -> None:
    """What torch's own frames say: cuBLAS' workspaces, what a moved module asked for, and of blocks from before the
    trace whose stacks the end tells those that an optimizer or backward asked for."""
    stacks = [[snapshot.frames[row] for row in stack] for stack in snapshot.stacks]
    phases = [_AT_END if each is None else int(each) for each in map(phase_of_frames, stacks)]
    phase = np.array([*phases, _AT_END], dtype=np.int64)[lives.stack]
    residents = lives.is_earlier & (role == BlockRole.RESIDENT) & (lives.stack != NO_STACK)
    role[residents & (phase == Phase.OPTIMIZER)] = BlockRole.OPTIMIZER_STATE
    role[residents & (phase == Phase.BACKWARD)] = BlockRole.GRADIENT
    moved = np.array([*map(moves_module, stacks), False], dtype=np.bool_)[lives.stack]
    role[moved & lives.is_left & (role == BlockRole.UNKNOWN)] = BlockRole.RESIDENT
    workspaces = np.array([*map(asks_for_workspace, stacks), False], dtype=np.bool_)[lives.stack]
    role[workspaces & lives.is_left] = BlockRole.WORKSPACE


def _as_their_stack_before(lives: Lives, steps: Steps, role: Ints) -> None:
    """What the end of the trace leaves open is what its stack's blocks of that size were in earlier steps, or those of
    any size, where they were one thing."""
    open_roles = (BlockRole.KEPT_BY_FORWARD, BlockRole.UNKNOWN, BlockRole.OUTPUT)
    is_open = np.isin(role, open_roles) & lives.is_left & ~lives.is_earlier
    step = steps.of(lives.born)
    first: defaultdict[tuple[int, int | None], dict[int, int]] = defaultdict(dict)
    known = ~is_open & ~lives.is_earlier
    columns = (lives.stack[known], lives.bytes[known], role[known], step[known])
    for stack, size, each, born in zip(*(column.tolist() for column in columns), strict=True):
        first[stack, size].setdefault(each, born)
        first[stack, None].setdefault(each, born)
    for row in np.flatnonzero(is_open).tolist():
        stack, size = int(lives.stack[row]), int(lives.bytes[row])
        for key in ((stack, size), (stack, None)):
            before = [each for each, born in first.get(key, {}).items() if born < int(step[row])]
            if before:
                role[row] = before[0] if len(before) == 1 and before[0] != BlockRole.UNKNOWN else role[row]
                break


def _by_size(lives: Lives, phases: Phases, role: Ints) -> None:
    """A parameter is as large as its gradient; what stands beside each once or twice more is its optimizer's state."""
    gradients = Counter(_sizes_of_one_step(lives, phases, role))
    residents: defaultdict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(role == BlockRole.RESIDENT).tolist():
        residents[int(lives.bytes[row])].append(row)
    matched = {size: count for size, count in gradients.items() if len(residents[size]) >= count}
    total = sum(size * count for size, count in gradients.items())
    if not total or sum(size * count for size, count in matched.items()) < _ENOUGH * total:
        return
    copies = min(len(residents[size]) // count for size, count in matched.items()) - 1
    has_state = bool((role == BlockRole.OPTIMIZER_STATE).any())
    for size, count in matched.items():
        rows = residents[size]
        role[rows[:count]] = BlockRole.PARAMETER
        if phases.optimizer_runs and not has_state:
            role[rows[count : count * (1 + copies)]] = BlockRole.OPTIMIZER_STATE


def _sizes_of_one_step(lives: Lives, phases: Phases, role: Ints) -> list[int]:
    """Bytes of the gradients that were there together before the trace or at the end of a backward, most of them."""
    chosen = np.flatnonzero(role == BlockRole.GRADIENT)
    if not len(chosen):
        return []
    is_backward = phases.phase == Phase.BACKWARD
    ends = [-1, *np.flatnonzero(is_backward & ~np.append(is_backward[1:], False)).tolist()]
    together = [chosen[(lives.born[chosen] <= end) & (lives.freed[chosen] > end)] for end in ends[:_MOST_ENDS]]
    found: list[int] = lives.bytes[max(together, key=len)].tolist()
    return found
