"""A census that is being taken: what has been found so far, by node number, for every part that adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch

from tenure.capture.heap.columns import CensusColumns
from tenure.capture.heap.descriptions import type_name
from tenure.capture.heap.heapwalk import Walk
from tenure.capture.heap.labels import attribute_values
from tenure.capture.tensors.fakes import is_no_tensor_of_the_program
from tenure.capture.tensors.storage_serials import SERIALS
from tenure.capture.tensors.storages import StorageTable, is_wrapper
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
        """Says of a tensor's storages what they are for; a fake tensor has none, and one that stands for others, as a
        shard does, theirs."""
        if is_no_tensor_of_the_program(tensor):
            return
        for plain in _plain_tensors(tensor):
            for storage_id in self.storages.add(plain, view=False):
                self.storages.by_id[storage_id].roles.add(role)


def _plain_tensors(tensor: torch.Tensor) -> list[torch.Tensor]:
    """A tensor, or those with memory that a wrapper has in its own attributes: a shard its part (`DTensor`)."""
    if not is_wrapper(tensor):
        return [tensor]
    found: list[torch.Tensor] = []
    waiting, seen = [tensor], {id(tensor)}
    while waiting:
        for held in attribute_values(waiting.pop()):
            if issubclass(type(held), torch.Tensor) and id(held) not in seen:
                seen.add(id(held))
                (waiting if is_wrapper(held) else found).append(held)
    return found
