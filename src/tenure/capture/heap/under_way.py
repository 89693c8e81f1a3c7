"""A census that is being taken: what has been found so far, by node number, for every part that adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch

from tenure.capture.heap.columns import CensusColumns
from tenure.capture.heap.descriptions import type_name
from tenure.capture.heap.heapwalk import Walk
from tenure.capture.tensors.fakes import is_no_tensor_of_the_program
from tenure.capture.tensors.storage_serials import SERIALS
from tenure.capture.tensors.storages import StorageTable
from tenure.model.heap import NodeKind, ReferenceKind, Role


@dataclass
class UnderWay:
    """Holds strong references to the program's objects, so it lives as short as the pause."""

    walk: Walk
    kinds: Sequence[NodeKind]
    """Of each of the walk's nodes."""
    in_degree: Sequence[int]
    columns: CensusColumns
    numbers: dict[int, int]
    """Node number by `id`, of the walk's nodes and of what later parts add."""
    held_by_python: Sequence[bool]
    """Per node of the walk: something in Python refers to it."""
    storages: StorageTable = field(default_factory=lambda: StorageTable(SERIALS))
    to_storage: list[tuple[int, int, ReferenceKind, str]] = field(default_factory=list)
    """References to storages, by storage id: storages are numbered last."""
    notes: list[str] = field(default_factory=list)
    _late: list[torch.Tensor] = field(default_factory=list)

    def link_storages(self, number: int, ids: Iterable[int]) -> None:
        """Notes that node `number` refers to these storages, as far as they have memory that can be read."""
        for storage_id in ids:
            if storage_id in self.storages.by_id:
                self.to_storage.append((number, storage_id, ReferenceKind.STORAGE, "storage"))

    def number_of_tensor(self, tensor: torch.Tensor) -> int:
        """Number of a tensor that may have had no Python object when the heap was walked."""
        number = self.numbers.get(id(tensor))
        if number is None:
            number = self.columns.add_node(NodeKind.TENSOR, type_name(type(tensor)), address=id(tensor))
            self.numbers[id(tensor)] = number
            self._late.append(tensor)
            self.link_storages(number, self.storages.add(tensor))
        return number

    def add_role(self, tensor: torch.Tensor, role: Role) -> None:
        """Says of a tensor's storages what they are for; a fake tensor has none."""
        if is_no_tensor_of_the_program(tensor):
            return
        for storage_id in self.storages.add(tensor, view=False):
            self.storages.by_id[storage_id].roles.add(role)
