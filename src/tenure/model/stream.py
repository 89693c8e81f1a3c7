"""What two steps of a program asked memory for, storage by storage: of what role, whose, and where it lives.

A profile tells when storages are born, used and freed; a stream adds whose they are. It is made by `tenure plan` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tenure.model.heap import Ints
from tenure.model.profile import StepProfile

NOT_WITH_FAKES = "not with fake tensors: "
"""So begins what a program says last that cannot go on without values."""


class Owner(IntEnum):
    """What a storage was found to be, the strongest claim first where several hold."""

    PARAMETER = 0
    BUFFER = 1
    OPTIMIZER_STATE = 2
    GRADIENT = 3
    NONE = 4
    """None of these: what an operation made, or what the program brought along."""


@dataclass(frozen=True)
class StorageOwners:
    """One row per storage of the profile.

    `owner` is an `Owner`; `name` and `module` are positions in the profile's strings, -1: none. The name is that of the
    parameter, buffer or state (`layers.0.weight`), the module the one whose forward made it, or whose it is.
    `kept_from` and `kept_to` are the first and the last of the stream's `graph_reads` at which a graph led to it, -1:
    none did. `on_device` is 1 for what would lie on the device: parameters, buffers and gradients, what the program
    puts there, and what operations bring together with those. `met_bytes` are the most of it that one operation there
    used.
    """

    owner: Ints
    name: Ints
    module: Ints
    kept_from: Ints
    kept_to: Ints
    on_device: Ints
    met_bytes: Ints


@dataclass(frozen=True)
class StepStream:
    """Two steps of a program, the second of which begins with operation `profile.second`.

    `modules` has for each operation the position of the innermost module's name in the profile's strings, -1: none;
    `flops` the floating point operations of its matrix products, convolutions and attention, 0 for all others.
    `graph_reads` are the operations right after which graphs were read: the first of each backward pass. `notes` say
    what could not be told.
    """

    profile: StepProfile
    modules: Ints
    owners: StorageOwners
    graph_reads: tuple[int, ...]
    notes: tuple[str, ...]
    flops: Ints

    def is_kept_at(self, graph_read: int) -> NDArray[np.bool_]:
        """Whether a graph led to each storage at one of `graph_reads`."""
        return (
            (self.owners.kept_from >= 0) & (self.owners.kept_from <= graph_read) & (self.owners.kept_to >= graph_read)
        )
