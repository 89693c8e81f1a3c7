"""Rows of a long run by column: a million steps are a few arrays, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, TypeVar, overload

import numpy as np

Row = TypeVar("Row")
Column = np.ndarray[Any, np.dtype[np.int64]]

STEP, TIME, SECONDS, COUNTER = "step", "time", "seconds", "counters."
AT_ONCE = 4096
"""Rows that are made together when all are gone through."""


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
        start = index % len(self)
        return next(self._made(start, start + 1))

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), AT_ONCE):
            yield from self._made(start, start + AT_ONCE)

    def __reversed__(self) -> Iterator[Row]:
        for start in reversed(range(0, len(self), AT_ONCE)):
            yield from reversed(list(self._made(start, start + AT_ONCE)))

    def _made(self, start: int, stop: int) -> Iterator[Row]:
        """Rows of a stretch; a few microseconds each."""
        part = {name: self.column(name)[start:stop].tolist() for name in self._names}
        counters = [name for name in self._names if name.startswith(COUNTER)]
        names = [name.removeprefix(COUNTER) for name in counters]
        there = zip(*(part[name] for name in counters), strict=True) if counters else repeat(())
        for step, time, seconds, values in zip(part[STEP], part[TIME], part[SECONDS], there, strict=False):
            found = {name: value for name, value in zip(names, values, strict=True) if value != self._missing}
            yield self._make(step, time / self._per_second, seconds / self._per_second, found)

    def column(self, name: str) -> Column:
        """One column whole, `missing` where a row has no such counter."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def last(self) -> tuple[int, float]:
        """Step and time in seconds of the last row, without making it; 0 where there is none."""
        if not len(self):
            return 0, 0.0
        return int(self.column(STEP)[-1]), float(self.column(TIME)[-1]) / self._per_second

    def mean_seconds(self) -> float:
        """Mean of the rows' `seconds`, without making rows."""
        return float(self.column(SECONDS).mean()) / self._per_second

    def counter(self, name: str) -> tuple[Column, Column]:
        """Step numbers and values of the rows that have this counter; both empty where none has."""
        if COUNTER + name not in self._names:
            return self.column(STEP)[:0], self.column(STEP)[:0]
        column = self.column(COUNTER + name)
        there = column != self._missing
        return self.column(STEP)[there], column[there]
