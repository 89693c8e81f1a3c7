"""`tenure.detached()`: lists, dicts and deques that take tensors in without their graphs.

A history of losses keeps the graph of every step that it has a tensor of. These containers detach on the way in, and
copy where a tensor shows only a small part of the storage that it would keep.
"""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, TypeVar

import torch

from tenure.errors import UsageError
from tenure.release.cut_graph import carries_graph, shown_bytes, without_graph
from tenure.release.held import TensorRef, who_holds_tensors
from tenure.release.outcome import Survivor

_History = TypeVar("_History", list[Any], dict[Any, Any], deque[Any])
_MOST_REMEMBERED = 16
"""Tensors cut last, whose holders can be asked for."""


@dataclass(frozen=True)
class HistoryOutcome:
    """What a container has cut on the way in: `num_cut` tensors that came with a graph, `before_bytes` of them (their
    own), and those of the last 16 that live on, graph and all, because somebody else holds them: `after_bytes`."""

    num_cut: int = 0
    before_bytes: int = 0
    after_bytes: int = 0
    _tensors: tuple[TensorRef, ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Who holds those that live on, with path and cut; () where none does.

        Costs a census, one to two collections, where one lives, and nothing elsewhere.
        """
        return who_holds_tensors(self._tensors)


class _LastCut:
    """The tensors cut last, weakly; empty in a copy, for weak references are neither copied nor pickled."""

    def __init__(self) -> None:
        self.references: deque[weakref.ref[torch.Tensor]] = deque(maxlen=_MOST_REMEMBERED)

    def __reduce__(self) -> tuple[type[_LastCut], tuple[()]]:
        return _LastCut, ()


class _Intake:
    """Counts what was cut on the way into one container."""

    num_cut = 0
    """Tensors that came with a graph and were taken in without."""
    _num_bytes = 0
    _last_cut: _LastCut | None = None

    @property
    def outcome(self) -> HistoryOutcome:
        """What was cut so far, and what of it lives on now."""
        last = self._last_cut.references if self._last_cut is not None else ()
        alive = [tensor for reference in last if (tensor := reference()) is not None and carries_graph(tensor)]
        followed = tuple(("a tensor that was taken in", weakref.ref(tensor)) for tensor in alive)
        return HistoryOutcome(self.num_cut, self._num_bytes, sum(map(shown_bytes, alive)), followed)

    def _take(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if carries_graph(value):
                self._note_cut(value)
            return without_graph(value)
        if type(value) in (list, tuple, deque):
            return type(value)(self._take(each) for each in value)
        if type(value) is dict:
            return {key: self._take(each) for key, each in value.items()}
        return value

    def _note_cut(self, tensor: torch.Tensor) -> None:
        self.num_cut += 1
        self._num_bytes += shown_bytes(tensor)
        if self._last_cut is None:
            self._last_cut = _LastCut()
        self._last_cut.references.append(weakref.ref(tensor))

    def _take_all(self, values: Iterable[Any]) -> list[Any]:
        return [self._take(each) for each in values]


class DetachedList(_Intake, list):  # type: ignore[type-arg]
    """A list whose tensors have no graph. Made by `tenure.detached`."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__(self._take_all(values))

    def append(self, value: Any) -> None:
        """Add one value at the end."""
        super().append(self._take(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Add several values at the end."""
        super().extend(self._take_all(values))

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Put one value before the one at `index`."""
        super().insert(index, self._take(value))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._take_all(value) if isinstance(index, slice) else self._take(value))

    def __iadd__(self, values: Iterable[Any]) -> DetachedList:  # type: ignore[misc]
        self.extend(values)
        return self


class DetachedDeque(_Intake, deque):  # type: ignore[type-arg]
    """A deque, bounded or not, whose tensors have no graph. Made by `tenure.detached`."""

    def __init__(self, values: Iterable[Any] = (), maxlen: int | None = None) -> None:
        super().__init__(self._take_all(values), maxlen)

    def append(self, value: Any) -> None:
        """Add one value at the right."""
        super().append(self._take(value))

    def appendleft(self, value: Any) -> None:
        """Add one value at the left."""
        super().appendleft(self._take(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Add several values at the right."""
        super().extend(self._take_all(values))

    def extendleft(self, values: Iterable[Any]) -> None:
        """Add several values at the left, one after another."""
        super().extendleft(self._take_all(values))

    def insert(self, index: int, value: Any) -> None:
        """Put one value before the one at `index`."""
        super().insert(index, self._take(value))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, self._take(value))

    def __iadd__(self, values: Iterable[Any]) -> DetachedDeque:
        self.extend(values)
        return self


class DetachedDict(_Intake, dict):  # type: ignore[type-arg]
    """A dict whose tensors have no graph; keys are left as they are. Made by `tenure.detached`."""

    def __init__(self, values: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        super().__init__(self._take(dict(values)))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, self._take(value))

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of `key`, which becomes `default` without its graph where there is none."""
        return super().setdefault(key, self._take(default))

    def update(self, *others: Any, **named: Any) -> None:
        """Take in all that the others have."""
        super().update(self._take(dict(*others, **named)))

    def __ior__(self, others: Any) -> DetachedDict:  # type: ignore[misc]
        self.update(others)
        return self


def detached(history: _History) -> _History:
    """A container like `history` that takes tensors in without graphs: `losses = tenure.detached([])`.

    A list gives a list, a dict a dict, a deque a deque of the same bound; what is in it is taken over without graphs,
    also in lists, tuples and dicts inside. `num_cut` counts the tensors that came with a graph; `outcome` has their
    bytes, and who holds those that live on. The original is not changed. A number taken in stays on its device and
    waits for nothing; the container itself still grows with every value (`deque(maxlen=...)` does not;
    `tenure.LossMeter` keeps three numbers).

    Raises UsageError for what is no container, a tensor among others.
    """
    made: Any
    if isinstance(history, dict):
        made = DetachedDict(history)
    elif isinstance(history, deque):
        made = DetachedDeque(history, history.maxlen)
    elif isinstance(history, list):
        made = DetachedList(history)
    else:
        what = "a tensor" if isinstance(history, torch.Tensor) else f"a {type(history).__name__}"
        raise UsageError(f"tenure.detached takes a list, dict or deque; {what} was given (a tensor has .detach())")
    result: _History = made
    return result
