"""Rows of a long run by column: a million steps are a few arrays, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

Row = TypeVar("Row")
Column = np.ndarray[Any, np.dtype[np.int64]]

STEP, TIME, SECONDS, COUNTER = "step", "time", "seconds", "counters."


class RowColumns(Sequence[Row]):
    """A sequence of rows that are made when asked for; `make(step, time, seconds, counters)` makes one.

    `load(name)` reads one column of `names`: whole numbers, all columns of one length, `step`, `time` and `seconds`
    in units of 1/`per_second`, and `counters.NAME`, where `missing` says that a row has no such counter. The first
    row that is made reads all of them.
    """

    def __init__(
        self,
        names: Sequence[str],
        load: Callable[[str], Column],
        make: Callable[..., Row],
        *,
        per_second: int,
        missing: int,
    ) -> None:
        self._names = tuple(names)
        self._load = load
        self._make = make
        self._per_second = per_second
        self._missing = missing
        self._loaded: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self.column(STEP))

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return RowColumns(
                self._names,
                lambda name: self.column(name)[index],
                self._make,
                per_second=self._per_second,
                missing=self._missing,
            )
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        values = {name: int(self.column(name)[index]) for name in self._names}
        counters = {
            name.removeprefix(COUNTER): value
            for name, value in values.items()
            if name.startswith(COUNTER) and value != self._missing
        }
        return self._make(values[STEP], values[TIME] / self._per_second, values[SECONDS] / self._per_second, counters)

    def column(self, name: str) -> Column:
        """One column whole, `missing` where a row has no such counter."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def counter(self, name: str) -> tuple[Column, Column]:
        """Step numbers and values of the rows that have this counter; both empty where none has."""
        if COUNTER + name not in self._names:
            return self.column(STEP)[:0], self.column(STEP)[:0]
        column = self.column(COUNTER + name)
        there = column != self._missing
        return self.column(STEP)[there], column[there]
