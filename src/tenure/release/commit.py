"""Changes that are prepared first and made all at once; taken back, in turn, where one of them fails."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

Change = Callable[[], None]
ONE_AT_A_TIME = threading.RLock()
"""Held from the first look to the last proof: two threads never release or load the same module at once, and no look
at all objects, which holds them all for its time, makes memory that another thread asks for seem alive."""


class Changes:
    """Changes to be made, each with what takes it back. Nothing is touched before `make`."""

    def __init__(self) -> None:
        self._steps: list[tuple[Change, Change]] = []

    def add(self, do: Change, undo: Change) -> None:
        """One more change, after all others."""
        self._steps.append((do, undo))

    def make(self) -> None:
        """Make them in order. Where one raises, those before it are taken back and the exception goes on."""
        done: list[Change] = []
        try:
            for do, undo in self._steps:
                done.append(undo)  # a change that fails halfway is taken back as well
                do()
        except BaseException:
            for undo in reversed(done):
                with suppress(Exception):
                    undo()
            raise

    def set_entry(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """`table[key] = value`, as the builtin dict does it. The key is there already, and keeps its place."""
        before = dict.__getitem__(table, key)
        base = _base(table)
        self.add(lambda: base.__setitem__(table, key, value), lambda: base.__setitem__(table, key, before))

    def remove_entry(self, table: dict[Any, Any], key: Any) -> None:
        """`del table[key]`; taken back, the entry stands last."""
        before = dict.__getitem__(table, key)
        base = _base(table)
        self.add(lambda: base.__delitem__(table, key), lambda: base.__setitem__(table, key, before))

    def replace_contents(self, container: Any, contents: Any) -> None:
        """Have a list, dict, set or deque hold `contents` instead of what it holds."""
        before = type(contents)(_plain_items(container))
        self.add(lambda: _refill(container, contents), lambda: _refill(container, before))

    def set_data(self, tensor: torch.Tensor, data: torch.Tensor) -> None:
        """`tensor.data = data`: the same tensor object, with other memory, for all who refer to it."""
        before = tensor.data
        self.add(lambda: _set_data(tensor, data), lambda: _set_data(tensor, before))

    def set_gradient(self, tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
        """`tensor.grad = gradient`."""
        before = tensor.grad
        self.add(lambda: _set_gradient(tensor, gradient), lambda: _set_gradient(tensor, before))


def _plain_items(container: Any) -> Any:
    return dict.items(container) if isinstance(container, dict) else list(container)


def _base(container: Any) -> Any:
    """The builtin type whose methods change a container without running any of the program's."""
    bases: tuple[Any, ...] = (collections.OrderedDict, dict, list, set, collections.deque)
    return next(base for base in bases if isinstance(container, base))


def _refill(container: Any, contents: Any) -> None:
    base = _base(container)
    base.clear(container)
    if issubclass(base, dict):
        for key, value in contents.items():
            base.__setitem__(container, key, value)
    elif base is set:
        set.update(container, contents)
    else:
        base.extend(container, contents)


def _set_data(tensor: torch.Tensor, data: torch.Tensor) -> None:
    tensor.data = data


def _set_gradient(tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
    tensor.grad = gradient
