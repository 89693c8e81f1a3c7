"""Lines of rows kept as columns: of hundreds of ranks at once, a row is then hundreds of bytes and no thousands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenure.model.row_columns import COUNTER, SECONDS, STEP, TIME, Column
from tenure.store.format import MICROSECONDS, MISSING

MOST_PARTS = 64
"""Parts, one for each reading, that are kept before they are put together."""

Part = dict[str, Column]


class TailColumns:
    """Rows in the order in which they were added; `after` gives back others, which later rows do not change."""

    def __init__(self, parts: Sequence[Part] = ()) -> None:
        self._parts = list(parts)

    def __len__(self) -> int:
        return sum(len(part[STEP]) for part in self._parts)

    @property
    def names(self) -> tuple[str, ...]:
        """`step`, `time`, `seconds`, and `counters.NAME` of all counters that a row has."""
        return tuple(dict.fromkeys([STEP, TIME, SECONDS, *(name for part in self._parts for name in part)]))

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Take more rows, as `parse_rows` gives them."""
        if not rows:
            return
        kinds = dict.fromkeys(tuple(row.get("counters", ())) for row in rows)
        counters = dict.fromkeys(f"{COUNTER}{name}" for kind in kinds for name in kind)
        self._parts.append({name: _whole_numbers(column_of(rows, name)) for name in (STEP, TIME, SECONDS, *counters)})
        if len(self._parts) > MOST_PARTS:
            self._parts = [{name: self.column(name) for name in self.names}]

    def column(self, name: str) -> Column:
        """One column of all rows; `MISSING` where a row does not have it."""
        if not self._parts:
            return np.empty(0, dtype=np.int64)
        missing = (np.full(len(part[STEP]), MISSING, dtype=np.int64) for part in self._parts if name not in part)
        return np.concatenate([part[name] if name in part else next(missing) for part in self._parts])

    def after(self, time: int | None) -> TailColumns:
        """The rows that are later, in microseconds; all of them for None."""
        if time is None:
            return TailColumns(self._parts)
        later = [(part, part[TIME] > time) for part in self._parts]
        kept = ({name: values[there] for name, values in part.items()} for part, there in later if there.any())
        return TailColumns(tuple(kept))


def column_of(rows: Sequence[dict[str, Any]], name: str) -> list[int]:
    """One column of parsed rows; times in microseconds."""
    if name == STEP:
        return [int(row[STEP]) for row in rows]
    if not name.startswith(COUNTER):
        return [round(row[name] * MICROSECONDS) for row in rows]
    counter = name.removeprefix(COUNTER)
    return [int(row.get("counters", {}).get(counter, MISSING)) for row in rows]


def _whole_numbers(values: Sequence[int]) -> Column:
    """As 64-bit integers; what is larger is no figure that anybody counted."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array([value if MISSING < value < -MISSING else MISSING for value in values], dtype=np.int64)
