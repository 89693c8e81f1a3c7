"""Two steps of a run, operation by operation: which storages each made and used, and when they died.

Operations are numbered over both steps. A storage is alive from its birth to its death, both included; what
happens between two operations counts for the earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tenure.model.heap import Ints

BEFORE = -1
"""Birth of a storage that was there when the profile began."""
ALIVE = -1
"""Death of a storage that was there when the profile ended."""


class Phase(IntEnum):
    """What the program was doing when an operation ran."""

    OTHER = 0
    FORWARD = 1
    """Inside a module call."""
    BACKWARD = 2
    """Inside autograd's engine, recomputation included."""
    OPTIMIZER = 3
    """Inside an optimizer's `step`."""


@dataclass(frozen=True)
class Operations:
    """One row per operation. `name` is a position in `StepProfile.strings`, `site` a row of `Sites` (-1: none)."""

    name: Ints
    site: Ints
    phase: Ints


@dataclass(frozen=True)
class Sites:
    """Statements of the user's code that ran operations; in the backward pass the one that started it."""

    file: Ints
    line: Ints
    function: Ints


@dataclass(frozen=True)
class ProfiledStorages:
    """One row per storage that an operation made or used. Bytes are those at its birth (or first use), as
    `Storages.bytes`; `address` is the one that a census of the same moment gives it."""

    address: Ints
    bytes: Ints
    device: Ints
    dtype: Ints
    shape: Ints
    birth: Ints
    last_use: Ints
    death: Ints


@dataclass(frozen=True)
class Uses:
    """One row per storage that an operation of the second step was given: in the operations' order."""

    operation: Ints
    storage: Ints


NO_USES = Uses(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
"""A memory stream's, and those of a profile that was written before uses were."""


@dataclass(frozen=True)
class StepProfile:
    """Two steps that follow each other, each from its root forward's entry to the next one.

    `step` is the number of the second one, which begins with operation `second`. A census of moment "peak" was taken
    right after operation `census_op` (-1: none), the counterpart of the first step's peak.
    `seconds` is what watching cost.
    """

    step: int
    second: int
    census_op: int
    seconds: float
    strings: tuple[str, ...]
    operations: Operations
    sites: Sites
    storages: ProfiledStorages
    uses: Uses = NO_USES

    @property
    def num_operations(self) -> int:
        """Operations of both steps."""
        return len(self.operations.name)

    def text(self, position: int) -> str:
        """The string at `position` of the table; "" for -1."""
        return self.strings[position] if position >= 0 else ""

    def kernel_of(self, operation: int) -> str:
        """What an operation does, without its overload: `mul` of `aten.mul.Tensor`; "" of a name without points."""
        return self.text(int(self.operations.name[operation])).partition(".")[2].partition(".")[0]

    def main_device(self) -> str:
        """The device of most bytes, and an accelerator rather than the host; "" where there is no storage."""
        totals: dict[str, int] = {}
        for device, size in zip(self.storages.device.tolist(), self.storages.bytes.tolist(), strict=True):
            totals[self.text(device)] = totals.get(self.text(device), 0) + size
        return max(totals, key=lambda name: (name != "cpu", totals[name]), default="")

    def is_on(self, device: str) -> Ints:
        """1 for each storage on `device`."""
        return np.array([self.text(position) == device for position in self.storages.device.tolist()], dtype=np.int64)

    def inputs(self) -> dict[int, list[int]]:
        """Of each operation of the second step, in order, the storages that it was given."""
        found: dict[int, list[int]] = {}
        for operation, storage in zip(self.uses.operation.tolist(), self.uses.storage.tolist(), strict=True):
            found.setdefault(operation, []).append(storage)
        return found

    def used_from_before(self) -> frozenset[tuple[int, int]]:
        """Address and bytes of what was there before the two steps and was used in them."""
        used = (self.storages.birth == BEFORE) & (self.storages.last_use != BEFORE)
        sizes = self.storages.bytes[used].tolist()
        return frozenset(zip(self.storages.address[used].tolist(), sizes, strict=True))

    def bytes_alive(self, device: str, *, freed_after: Ints | None = None) -> Ints:
        """Per operation, bytes of all rows on `device` alive once it has run.

        `freed_after` names for each storage the last operation at which it is counted, whatever its death.
        """
        storages, size = self.storages, self.num_operations
        last = np.where(storages.death == ALIVE, size - 1, storages.death)
        if freed_after is not None:
            last = np.minimum(last, freed_after)
        weights = storages.bytes * self.is_on(device)
        change = np.zeros(size + 1, dtype=np.int64)
        born = np.maximum(storages.birth, 0)
        counted = last >= born
        np.add.at(change, born[counted], weights[counted])
        np.add.at(change, last[counted] + 1, -weights[counted])
        return np.asarray(np.cumsum(change)[:size], dtype=np.int64)
