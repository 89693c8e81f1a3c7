"""`tenure.detached()`: lists, dicts and deques that take tensors in without their graphs.

A history of losses keeps the graph of every step that it has a tensor of. These containers detach on the way in, and
copy where a tensor shows only a small part of the storage that it would keep.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, TypeVar

import torch

from tenure.errors import UsageError
from tenure.release.cut_graph import carries_graph, without_graph

_History = TypeVar("_History", list[Any], dict[Any, Any], deque[Any])


class _Intake:
    """Counts what was cut on the way into one container."""

    num_cut = 0
    """Tensors that came with a graph and were taken in without."""

    def _take(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            self.num_cut += carries_graph(value)
            return without_graph(value)
        if type(value) in (list, tuple, deque):
            return type(value)(self._take(each) for each in value)
        if type(value) is dict:
            return {key: self._take(each) for key, each in value.items()}
        return value

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
    also in lists, tuples and dicts inside. `num_cut` counts the tensors that came with a graph.
    The original is not changed. A number taken in stays on its device and waits for nothing; the container itself
    still grows with every value (`deque(maxlen=...)` does not; `tenure.LossMeter` keeps three numbers).

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
