"""What a census says of some storages: bytes by role and device, scalars, what no view covers, freed graphs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tenure.analysis.heap.graph import Bools
from tenure.analysis.heap.groups import View
from tenure.model.heap import BUFFERS_FREED, Census, Ints, ReferenceKind, Role

SCALAR_BYTES = 512
"""A scalar's storage on a device, rounded as allocators round."""


def storage_rows(view: View, nodes: Ints) -> Ints:
    """Rows of `census.storages` of those nodes that are storages."""
    return np.flatnonzero(np.isin(view.census.storages.node, nodes))


def identities(view: View, storages: Ints) -> frozenset[tuple[int, int]]:
    """Address and bytes of storage nodes: the same for the same memory while it lives, also in profiles."""
    addresses, sizes = view.census.nodes.address[storages], view.graph.bytes_of_node[storages]
    return frozenset(zip(addresses.tolist(), sizes.tolist(), strict=True))


def bytes_of(storages: Iterable[tuple[int, int]]) -> int:
    """Of storages known by address and bytes: what they come to."""
    return sum(size for _, size in storages)


def is_scalar(view: View, row: int) -> bool:
    """The storage's largest view has one element."""
    return view.census.text(int(view.census.storages.shape[row])) in ("[]", "[1]")


def has_only_scalars(view: View, rows: Ints) -> bool:
    """Every one of these storages has one element and no more memory than that."""
    small = bool(np.all(view.census.storages.bytes[rows] <= SCALAR_BYTES))
    return small and all(is_scalar(view, row) for row in rows.tolist())


def pinned_bytes(view: View, rows: Ints) -> int:
    """Bytes of some storages that no view of theirs can be covering, even if none of the views overlap."""
    storages = view.census.storages
    covered = np.minimum(storages.bytes[rows], storages.view_bytes[rows] * storages.num_views[rows])
    return int((storages.bytes[rows] - covered)[storages.num_views[rows] > 0].sum())


def bytes_by_role(view: View, rows: Ints) -> dict[str, int]:
    """Bytes of some storages by the name of their role, largest first."""
    storages = view.census.storages
    found = {role.name: int(storages.bytes[rows][storages.role[rows] == role].sum()) for role in Role}
    return dict(sorted(((name, size) for name, size in found.items() if size), key=lambda item: -item[1]))


def is_on(census: Census, device: str) -> Bools:
    """Per storage: whether it lies on this device."""
    return np.array([census.text(place) == device for place in census.storages.device.tolist()], dtype=bool)


def main_device(census: Census, rows: Ints) -> str:
    """The device of most of the bytes of these storages, of all where there are none."""
    storages = census.storages
    if len(rows) == 0:
        rows = np.arange(len(storages.node))
    if len(rows) == 0:
        return ""
    devices = np.unique(storages.device[rows])
    heaviest_device = max(
        devices.tolist(), key=lambda d: (int(storages.bytes[rows][storages.device[rows] == d].sum()), -d)
    )
    return census.text(heaviest_device)


def is_graph_freed(view: View, graph_nodes: Ints) -> bool:
    """Backward has released the saved buffers of these nodes: some say so and none still holds any."""
    if not len(graph_nodes):
        return False
    freed = (view.census.nodes.flags[graph_nodes] & BUFFERS_FREED) != 0
    references = view.census.references
    saves = np.isin(references.source, graph_nodes) & (references.kind == ReferenceKind.SAVED)
    return bool(freed.any()) and not bool(saves.any())
