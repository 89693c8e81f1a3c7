"""Where the storages of watched steps lie: by the program's words, by use, and where nothing tells, on the device."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.profile.op_watch import OpWatch
from tenure.capture.profile.provenance import INDEXES, PICKS, Meeting, rows_on_device, that_meet
from tenure.capture.tensors.storages import shape_text
from tenure.model.profile import ALIVE, BEFORE


@dataclass(frozen=True)
class Whereabouts:
    """`met_bytes` has the rows on the device, each with the most bytes of it that an operation used there; of
    `num_guessed_bytes` of them nothing told."""

    met_bytes: Mapping[int, int]
    num_guessed_bytes: int


class Traces:
    """What tells of storages where they lie, as it comes. `on_device` are the rows that are known to lie there by now:
    what operations further on tell of them is found at the end."""

    def __init__(self) -> None:
        self.on_device: set[int] = set()
        self._told: set[int] = set()
        self._on_host: set[int] = set()
        self._indices: set[int] = set()
        self._meetings: list[Meeting] = []

    def tell(self, row: int, on_device: bool) -> None:
        """All of this storage lies there."""
        if on_device:
            self._told.add(row)
            self.on_device.add(row)
        else:
            self._on_host.add(row)

    def keep(self, row: int) -> None:
        """A graph keeps this storage: unless it was copied to the host, backward wants it where it was made."""
        if row not in self._on_host:
            self.on_device.add(row)

    def meet(
        self, name: str, used: Sequence[tuple[int | None, Any]], made: Iterable[int | None], named: Collection[str]
    ) -> None:
        """An operation used these storages, by tensors, and made others; `named` are its keywords."""
        if name.startswith(INDEXES):
            self._indices.update(row for row, _ in used if row is not None)
        there = [(row, tensor) for row, tensor in that_meet(name, used, named) if row is not None]
        meeting = Meeting(
            # A number without dimensions may stay on the host, as an optimizer's count of steps does.
            used=tuple((row, tensor.numel() * tensor.element_size()) for row, tensor in there if tensor.dim()),
            numbers=tuple(row for row, tensor in there if not tensor.dim()),
            made=tuple(row for row in made if row is not None) if there else (),
            picks=name in PICKS,
        )
        self._meetings.append(meeting)
        if not self.on_device.isdisjoint(row for row, _ in there):
            self.on_device.update((*(row for row, _ in meeting.used), *meeting.made))

    def find(self, watch: OpWatch, owned: Collection[int], *, guess: bool) -> Whereabouts:
        """Of all that was watched. With `guess` what nothing tells of is taken to lie on the device."""
        real = {row for row, device in enumerate(watch.devices) if device not in ("cpu", "meta")}
        before = {row for row, birth in enumerate(watch.births) if birth == BEFORE and row not in owned}
        met = rows_on_device(self._meetings, self.on_device | real, from_before=before, elsewhere=self._on_host)
        met |= {row: watch.sizes[row] for row in self._told}
        unsure = self._rows_that_nothing_tells(watch, met) if guess else []
        alike = _rows_alike(watch, unsure, met.keys() - owned)
        guessed = sum(watch.sizes[row] for row in unsure if row not in alike)
        return Whereabouts(met | {row: watch.sizes[row] for row in unsure}, guessed)

    def _rows_that_nothing_tells(self, watch: OpWatch, known: Mapping[int, int]) -> list[int]:
        """What the steps made or dropped; what was there before and stays is a data set more often than not, and what
        operations found that they had not made is a library's own."""
        of_host = rows_on_device(self._meetings, self._on_host - known.keys(), elsewhere=known)
        excepted = known.keys() | of_host.keys() | self._indices
        random_state = "cpu", "uint8", shape_text(torch.get_rng_state())
        return [
            row
            for row, (birth, death) in enumerate(zip(watch.births, watch.deaths, strict=True))
            if (birth != BEFORE or (death != ALIVE and row < watch.num_before))
            and row not in excepted
            and watch.shapes[row] != "[]"
            and watch.kind_of(row) != random_state
        ]


def _rows_alike(watch: OpWatch, rows: Iterable[int], known: Collection[int]) -> set[int]:
    """Those that a statement made which made `known` ones too, and those of before the steps that look like one: the
    batches of the steps before and after."""
    statements = {watch.statement_of(row) for row in known} - {None}
    looks = {watch.kind_of(row) for row in known}
    return {
        row
        for row in rows
        if (watch.kind_of(row) in looks if watch.births[row] == BEFORE else watch.statement_of(row) in statements)
    }
