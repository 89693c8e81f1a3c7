"""Foreign memory beside torch's in a census, each byte counted once: arrays of two libraries often share memory."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence

from tenure.capture.heap.columns import CensusColumns
from tenure.capture.heap.descriptions import type_name
from tenure.capture.heap.foreign_memory import describe_unread, is_foreign
from tenure.capture.heap.foreign_types import Read, reader_of
from tenure.model.heap import NodeKind, ReferenceKind, Role

Region = tuple[int, int, int]
"""Address of a stretch of memory, the address behind it, and the number of the storage that it belongs to."""


class Regions:
    """Stretches of memory that do not overlap, by address.

    Devices are not compared: addresses of the host and of all devices differ (CUDA's unified addressing).
    """

    def __init__(self) -> None:
        self._regions: list[Region] = []

    def put(self, pointer: int, num_bytes: int, storage: int) -> tuple[list[int], int]:
        """Give `storage` what of this memory is nobody's yet: storages that have the rest, and how many bytes are new.

        Logarithmic in the number of regions, and linear in those that are met.
        """
        end = pointer + num_bytes
        met = self._overlapping(pointer, end)
        gaps, at = [], pointer
        for start, stop, _ in met:
            if start > at:
                gaps.append((at, start))
            at = max(at, stop)
        if at < end:
            gaps.append((at, end))
        for start, stop in gaps:
            insort(self._regions, (start, stop, storage))
        return list(dict.fromkeys(owner for _, _, owner in met)), sum(stop - start for start, stop in gaps)

    def _overlapping(self, pointer: int, end: int) -> list[Region]:
        first = max(0, bisect_right(self._regions, (pointer, 0, 0)) - 1)
        met = []
        for region in self._regions[first:]:
            if region[0] >= end:
                break
            if region[1] > pointer:
                met.append(region)
        return met


def add_foreign_memory(columns: CensusColumns, items: Sequence[object], known: Iterable[Region]) -> list[str]:
    """Make arrays of other libraries owners of storages: of the `known` ones they share, of new ones for the rest.

    `items` are the census' nodes by number, `known` torch's storages. Gives back notes on what could not be read.
    """
    kinds = {id(type(item)): type(item) for item in items}
    foreign = {number: reader_of(cls) for number, cls in kinds.items() if is_foreign(cls)}
    if not foreign:
        return []
    regions, unread = Regions(), Counter[str]()
    for pointer, end, storage in known:
        regions.put(pointer, end - pointer, storage)
    for number, item in enumerate(items):
        if id(type(item)) in foreign:
            unread[type_name(type(item))] += not _add(columns, regions, number, item, foreign[id(type(item))])
    return [describe_unread(+unread)] if +unread else []


def _add(columns: CensusColumns, regions: Regions, number: int, item: object, read: Read | None) -> bool:
    """Whether the memory of this array could be read."""
    memory = None if read is None else read(item)
    if memory is None:
        return False
    if not memory.num_bytes:
        return True
    storage = len(columns.nodes["kind"])
    shared, new_bytes = regions.put(memory.pointer, memory.num_bytes, storage)
    if new_bytes:
        columns.add_node(NodeKind.STORAGE, "storage", address=memory.pointer)
        columns.add_storage(
            storage, num_bytes=new_bytes, view_bytes=new_bytes, num_views=0, role=Role.OTHER, device=memory.device,
            dtype=memory.dtype, shape=memory.shape, pointer=memory.pointer,
        )  # fmt: skip
        shared.append(storage)
    for each in shared:
        columns.add_reference(number, each, ReferenceKind.STORAGE, "memory")
    return True
