"""The program's optimizers, numbered in the order of their first step and never held."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any


class KnownOptimizers:
    """Numbers optimizers; an address that a new optimizer took over gets a new number."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._next = 0

    def number(self, optimizer: Any) -> int:
        """The number of an optimizer that steps."""
        known = self._known.get(id(optimizer))
        if known is not None and known[0]() is optimizer:
            return known[1]
        number = self._next
        self._next += 1
        self._known[id(optimizer)] = (weakref.ref(optimizer), number)
        return number

    def live(self) -> Sequence[Any]:
        """Those that still exist."""
        found = (reference for reference, _ in self._known.values())
        return _WeakSequence([reference for reference in found if reference() is not None])


class _WeakSequence(Sequence[Any]):
    """Objects that are not held: a list of them would be an owner that a census counts and cannot see."""

    def __init__(self, references: list[weakref.ref[Any]]) -> None:
        self._references = references

    def __len__(self) -> int:
        return len(self._references)

    def __getitem__(self, at: Any) -> Any:
        return self._references[at]()
