"""Memory followed without holding it: weak references to storages, which say exactly what is gone.

An address says little, for it is used again; a weak reference keeps it from being used again until it is dropped.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from tenure.capture.tensors.storages import StorageTable, is_fake, sparse_parts, storage_id_of

MOST_COLLECTIONS = 4
"""Each may make the next find more; a ring behind another ring needs one more."""


@dataclass(frozen=True)
class StorageRef:
    """One storage: its address, device and bytes as its allocator rounds them, and what a person calls it."""

    address: int
    device: str
    bytes: int
    name: str
    weak: StorageWeakRef

    @property
    def is_alive(self) -> bool:
        """Whether its memory is still there."""
        return not self.weak.expired()


class StorageRefs:
    """Weak references to the storages of tensors, each once, under the name that it was first seen by."""

    def __init__(self) -> None:
        self.by_address: dict[int, StorageRef] = {}

    def add(self, tensor: torch.Tensor, name: str) -> None:
        """Follow the memory of a tensor, of all its parts where it is made of several; nothing where it has none."""
        table = StorageTable()
        for part in parts_of(tensor):
            for address in table.add(part):
                facts = table.by_id[address]
                if address not in self.by_address:
                    weak = StorageWeakRef(_storage_at(part, address))
                    self.by_address[address] = StorageRef(address, facts.device, facts.num_bytes, name, weak)

    def leave_out(self, addresses: Iterable[int]) -> None:
        """Follow these no longer."""
        for address in addresses:
            self.by_address.pop(address, None)

    def __iter__(self) -> Iterator[StorageRef]:
        return iter(self.by_address.values())


def live_tensors() -> Iterator[torch.Tensor]:
    """All tensors that the collector knows and that have memory: one look at every object, a third of a collection.

    Whoever loops over them owns the last one for as long as the loop's variable lives.
    """
    for item in gc.get_objects():
        if issubclass(type(item), torch.Tensor) and not is_fake(item):
            yield item


def collect_until_gone(storages: Sequence[StorageRef]) -> None:
    """Collect garbage once, and again as long as that frees something and not all of the storages are gone."""
    for _ in range(MOST_COLLECTIONS):
        if not gc.collect() or not any(storage.is_alive for storage in storages):
            return


def addresses_of(tensor: torch.Tensor) -> set[int]:
    """Addresses of the storages that a tensor's values lie in; empty for meta and opaque tensors. Makes no wrapper."""
    found = set()
    for part in parts_of(tensor):
        if part.device.type != "meta":
            try:
                found.add(storage_id_of(part))
            except RuntimeError:
                found |= {storage_id_of(each) for each in sparse_parts(part)}
    return found


def parts_of(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensors with memory that a tensor is made of: itself, or what is inside a wrapper (quantised, distributed)
    one."""
    waiting: list[Any] = [tensor]
    seen: set[int] = set()
    while waiting:
        item = waiting.pop()
        if id(item) in seen or is_fake(item):
            continue
        seen.add(id(item))
        flatten = getattr(type(item), "__tensor_flatten__", None)
        inner = [getattr(item, name, None) for name in item.__tensor_flatten__()[0]] if flatten is not None else []
        waiting += [part for part in inner if isinstance(part, torch.Tensor)]
        if not inner:
            yield item


def _storage_at(tensor: torch.Tensor, address: int) -> torch.UntypedStorage:
    """The storage of a tensor, or of that part of a sparse one which lies at `address`."""
    try:
        return tensor.untyped_storage()
    except RuntimeError:
        part = next(part for part in sparse_parts(tensor) if storage_id_of(part) == address)
        return part.untyped_storage()
