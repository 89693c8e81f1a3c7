"""Which storages lie on the device: what is known to, and what operations bring together with it, forward and back.

An operation runs where its tensors are, so that one of them on the device tells of all. Copies from one device to
another tell nothing, and indices may stay on the host. What batches are picked from is not drawn in by them alone: a
data set is more often on the host, and each batch is copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

INDEXES = "aten.index"
"""So begin operations whose indices may lie on the host."""
PICKS = frozenset(
    ("aten.index.Tensor", "aten.index_select.default", "aten.gather.default", "aten.stack.default", "aten.cat.default")
)
"""Operations that make batches of what is there."""
_COPIES = "aten._to_copy.default"
_MEETS_OTHER_DEVICES = frozenset(("aten.copy_.default", "aten.index.Tensor", "aten.set_.source_Tensor"))
"""Operations whose first tensor alone has to lie where their result does."""
_WRITES_VALUES = frozenset(("aten.index_put_.default", "aten.index_put.default", "aten._index_put_impl_.default"))
"""What they write has to lie there too, and their indices, which stand between, need not."""


@dataclass(frozen=True)
class Meeting:
    """The storages of one operation, by row: those of tensors with dimensions, each with the bytes that it used; those
    of numbers, which an operation takes from any device; and those of its result. `picks` is of operations in PICKS."""

    used: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...]
    made: tuple[int, ...]
    picks: bool = False

    @property
    def rows(self) -> frozenset[int]:
        """All of them."""
        return frozenset((*(row for row, _ in self.used), *self.numbers, *self.made))

    def takes(self, row: int) -> bool:
        """Whether a storage is an argument, and not a result alone."""
        return row in self.numbers or any(row == used for used, _ in self.used)

    def drawn_in(self, row: int) -> set[int]:
        """What lies on the device where `row` does; numbers only where there is nothing else that could tell."""
        used = {row for row, _ in self.used}
        if self.takes(row):
            return {*used, *self.made}
        return used or set(self.numbers)


def that_meet(name: str, used: Sequence[Any], named: Collection[str]) -> Sequence[Any]:
    """Those of an operation's tensors that lie where its result does. `named` are its keywords.

    Of a copy whose device is named none does: it comes from anywhere.
    """
    if name == _COPIES:
        return () if "device" in named else used
    if name in _WRITES_VALUES:
        return (used[0], used[-1])
    return used[:1] if name in _MEETS_OTHER_DEVICES else used


def rows_on_device(
    meetings: Sequence[Meeting],
    known: Iterable[int],
    *,
    from_before: Collection[int] = (),
    elsewhere: Collection[int] = (),
) -> dict[int, int]:
    """The rows on the device, `known` and others, each with the most bytes of it that an operation there used.

    Neither `from_before` where batches are picked from them, nor what lies `elsewhere`, as copies back to the host do,
    are drawn in by a result alone. Cost: some microseconds per operation.
    """
    by_row: defaultdict[int, list[int]] = defaultdict(list)
    for number, each in enumerate(meetings):
        for row in each.rows:
            by_row[row].append(number)
    found, is_there = set(known), [False] * len(meetings)
    kept_out = frozenset(elsewhere), frozenset(elsewhere) | frozenset(from_before)
    waiting = list(found)
    while waiting:
        row = waiting.pop()
        for number in by_row[row]:
            if is_there[number]:
                continue
            each = meetings[number]
            more = each.drawn_in(row) - found
            is_there[number] = each.takes(row)
            if not is_there[number]:
                more -= kept_out[each.picks]
            found |= more
            waiting += more
    return _met(meetings, found)


def _met(meetings: Sequence[Meeting], found: set[int]) -> dict[int, int]:
    met = dict.fromkeys(found, 0)
    for each in meetings:
        for row, size in each.used:
            if row in met:
                met[row] = max(size, met[row])
    return met
