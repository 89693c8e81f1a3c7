"""Where one training step ends and the next begins, found from the order of optimizer steps and root calls.

Pure state machines over small numbers: nothing here knows torch or holds an object of the program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, KeysView, Sequence

REMEMBERED = 64
ACTIVE_WITHIN = 32
"""An optimizer that did not step among the last 32 optimizer steps no longer belongs to the sequence."""
MAX_NEW_IN_A_ROW = 2
"""More new optimizers than this, none of the former back in between, each after a forward, are one model after
another (folds)."""


LONG_RUN = 5
"""Steps of one optimizer in a row, after which each further one is a step of its own as long as no sequence is known:
others that wait may never come back, as trials of a search that go on with the best."""
BRIEF = 8
"""Steps in a row, after which nothing of an optimizer is seen any more: it was made for a fit beside the training."""
MOST_IN_A_TURN = 8
"""Root calls of a program without an optimizer that are taken for one turn of it."""


class OptimizerSequence:
    """Tells which optimizer step is the last of a training step.

    One optimizer: each of its steps. Several: the last of the shortest repeating sequence (D, D, G). Until the
    sequence has been seen twice, the newest optimizer's step counts as the last one, except its very first:
    the steps before it were counted already; and so do those of a long run of any. Where one optimizer comes after
    another and none comes back, as in cross-validation with a few steps per fold, each step counts. Those that step a
    few times and never again, while another comes back, as a probe's or a task's that is fitted beside the training,
    have no part in the sequence.
    """

    def __init__(self) -> None:
        self._history: deque[int] = deque(maxlen=REMEMBERED)
        self._new_in_a_row = 0
        self._runs = _Runs()
        self.asks_for_forward = False
        """Whether the next answer depends on a root module's call between this optimizer step and the next."""

    def ends_step(self, optimizer: int, *, after_forward: bool = False) -> bool:
        """Take one optimizer step by the optimizer's number (given in order of first step).

        `after_forward` says that a root module was called since the optimizer step before, where that was asked for.
        """
        self._history.append(optimizer)
        is_new = self._runs.take(optimizer)
        if len(self._runs.known) == 1:
            return True
        self._count_new(optimizer, is_new=is_new)
        if is_new:
            return after_forward and self._new_in_a_row > MAX_NEW_IN_A_ROW
        if self._runs.is_passing(optimizer):
            return False
        recent = list(self._history)
        if self._runs.num_brief:
            recent = [each for each in recent if not self._runs.was_left(each)]
        active = set(recent[-ACTIVE_WITHIN:])
        if len(active) == 1:
            return True
        sequence = find_sequence(recent, active)
        if sequence is None:
            return optimizer == max(active) or self._runs.length > LONG_RUN
        return sequence == find_start(sequence)

    def _count_new(self, optimizer: int, *, is_new: bool) -> None:
        if is_new:
            self._new_in_a_row += 1
        elif optimizer != self._runs.latest:
            self._new_in_a_row = 0
        self.asks_for_forward = self._new_in_a_row >= MAX_NEW_IN_A_ROW


class _Runs:
    """How often each optimizer has begun to step after another had, and how long the last such run is."""

    def __init__(self) -> None:
        self._num: dict[int, int] = {}
        self._length: dict[int, int] = {}
        self._newest = -1
        self.latest = -1
        """The largest number of all that have stepped; numbers are given in order."""
        self._num_returned = 0
        self.num_brief = 0
        """Optimizers with one run, a short one, that is over."""

    @property
    def known(self) -> KeysView[int]:
        """All that have stepped."""
        return self._num.keys()

    @property
    def length(self) -> int:
        """How often in a row the optimizer has stepped that stepped last."""
        return self._length[self._newest]

    def take(self, optimizer: int) -> bool:
        """An optimizer steps; whether it is its first."""
        if optimizer == self._newest:
            self._length[optimizer] += 1
            return False
        self.num_brief += self._is_single(self._newest)
        self.num_brief -= self._is_single(optimizer)
        self._newest = optimizer
        self.latest = max(self.latest, optimizer)
        self._num[optimizer] = self._num.get(optimizer, 0) + 1
        self._length[optimizer] = 1
        self._num_returned += self._num[optimizer] == 3
        return self._num[optimizer] == 1

    def _is_single(self, optimizer: int) -> bool:
        return self._num.get(optimizer) == 1 and self._length[optimizer] <= BRIEF

    def is_passing(self, optimizer: int) -> bool:
        """Whether it is one more of several that came for a few steps, while another came back each time."""
        return self._num_returned > 0 and self.num_brief > 1 and self._is_single(optimizer)

    def was_left(self, optimizer: int) -> bool:
        """Whether nothing more is expected of it: others came as it did, or the one that came back goes on alone."""
        if optimizer == self._newest:
            return False
        goes_on = self._num[self._newest] > 1 and self._length[self._newest] > BRIEF
        return self._is_single(optimizer) and (goes_on or self.is_passing(optimizer))


def find_sequence(history: Sequence[int], active: set[int]) -> tuple[int, ...] | None:
    """The shortest sequence with all active optimizers that the history ends with twice; None if there is none."""
    for length in range(len(active), len(history) // 2 + 1):
        last = history[-length:]
        if last == history[-2 * length : -length] and active.issubset(last):
            return tuple(last)
    return None


def find_start(sequence: tuple[int, ...]) -> tuple[int, ...]:
    """The rotation that a program most likely runs in one step: what it used first, and runs of it, come first."""
    return min(sequence[turn:] + sequence[:turn] for turn in range(len(sequence)))


class RootCalls:
    """Counts calls of root modules, for programs without an optimizer (generation, serving, evaluation).

    While an optimizer exists that has not stepped yet, the calls are taken for micro-batches of the first step;
    after `patience` calls, or `patience_without_gradients` that no backward pass was seen to follow, the program is
    taken for one that does not step, as one that trained before, or whose trainer makes an optimizer and predicts.
    """

    def __init__(self, patience: int = 256, patience_without_gradients: int = 128) -> None:
        self._kinds: deque[Hashable] = deque(maxlen=REMEMBERED)
        self._patience = patience
        self._patience_without_gradients = patience_without_gradients
        self._calls = 0
        self._waited = 0
        self._has_gradients = False

    def begins_step(self, *, optimizer_exists: bool, has_gradients: Callable[[], bool] = lambda: True) -> bool:
        """Take one root call; True when it ends the step before it.

        `has_gradients` says whether a backward pass has reached the module's parameters; it is asked for as long as
        that matters.
        """
        self._calls += 1
        if optimizer_exists and self._waits(has_gradients):
            self._waited += 1
            self._calls = 1
            return False
        return self._calls > 1

    def _waits(self, has_gradients: Callable[[], bool]) -> bool:
        if self._waited >= self._patience:
            return False
        self._has_gradients = self._has_gradients or has_gradients()
        return self._has_gradients or self._waited < self._patience_without_gradients

    def note(self, kind: Hashable) -> None:
        """Take what kind the root call is that comes next: of which module, with a graph or without."""
        self._kinds.append(kind)

    @property
    def period(self) -> int:
        """After how many calls the same kinds come again: the length of the sequence, of at most MOST_IN_A_TURN calls,
        that the calls so far end with twice; 1 where there is none."""
        recent = list(self._kinds)[-2 * MOST_IN_A_TURN :]
        numbers = {kind: number for number, kind in enumerate(dict.fromkeys(recent))}
        found = find_sequence([numbers[kind] for kind in recent], set(numbers.values()))
        return len(found) if found else 1
