"""A census in two parts: what leads to tensors, and what leads to other memory of the host.

Everything that is said of tensors is said of the first part alone, so that a data set in memory or a table of words
changes no share, no total and no threshold.
"""

from __future__ import annotations

import dataclasses
import zlib
from typing import TypeVar

import numpy as np

from tenure.analysis.heap.graph import Bools, ancestors, build_graph
from tenure.model.heap import Census, Ints, NodeKind, Nodes, ReferenceKind, References, Role, Storages, no_host_buffers

HOST = "host"
"""The device that host memory without a tensor is said to be on."""
_TENSOR_KINDS = (NodeKind.TENSOR, NodeKind.STORAGE, NodeKind.AUTOGRAD)
_STORAGE = "storage"
Table = TypeVar("Table")


def tensor_part(census: Census) -> Census:
    """The census without host buffers and without what leads to nothing else; the same object where there are none."""
    if not len(census.host.owner):
        return census
    seeds = np.flatnonzero(np.isin(census.nodes.kind, _TENSOR_KINDS))
    return _select(census, ancestors(build_graph(census), seeds))


def host_part(census: Census) -> Census:
    """The census of host buffers: each is an object that refers to a storage on the device "host"."""
    kept = ancestors(build_graph(census), np.unique(census.host.owner))
    chosen = _select(census, kept)
    owner = (np.cumsum(kept) - 1)[census.host.owner]
    count, size = len(owner), len(chosen.nodes.kind)
    strings = (*chosen.strings, HOST, _STORAGE)
    buffers, memory = np.arange(size, size + count), np.arange(size + count, size + 2 * count)
    return dataclasses.replace(
        chosen,
        strings=strings,
        nodes=_joined(chosen.nodes, _nodes_of(census, len(strings) - 1)),
        references=_joined(
            chosen.references,
            References(
                source=np.concatenate([owner, buffers]),
                target=np.concatenate([buffers, memory]),
                kind=np.concatenate([census.host.kind, np.full(count, int(ReferenceKind.STORAGE))]),
                label=np.concatenate([census.host.label, np.full(count, len(strings) - 1)]),
            ),
        ),
        storages=Storages(
            node=memory,
            bytes=census.host.bytes,
            view_bytes=census.host.bytes,
            num_views=np.ones(count, dtype=np.int64),
            role=np.full(count, int(Role.OTHER)),
            device=np.full(count, len(strings) - 2),
            dtype=census.host.type,
            shape=np.full(count, -1),
            pointer=np.zeros(count, dtype=np.int64),
            serial=np.zeros(count, dtype=np.int64),
            version=np.zeros(count, dtype=np.int64),
        ),
    )


def _nodes_of(census: Census, storage_type: int) -> Nodes:
    """An object and a storage for each buffer, known again in the next census by its owner and its name there."""
    host, count = census.host, len(census.host.owner)
    names = np.array([zlib.crc32(census.text(label).encode()) for label in host.label.tolist()], dtype=np.int64)
    address = census.nodes.address[host.owner] ^ (names << 16)
    nothing, none = np.zeros(2 * count, dtype=np.int64), np.full(2 * count, -1)
    return Nodes(
        kind=np.repeat([int(NodeKind.OBJECT), int(NodeKind.STORAGE)], count),
        type=np.concatenate([host.type, np.full(count, storage_type)]),
        name=none,
        file=none,
        line=nothing,
        address=np.concatenate([address, ~address]),
        unseen=nothing,
        native=nothing,
        length=none,
        bound=none,
        flags=nothing,
        called_in=nothing,
    )


def _select(census: Census, kept: Bools) -> Census:
    """The nodes marked in `kept`, with the references between them and those of their storages that are tensors'."""
    number = np.cumsum(kept) - 1
    references, storages = census.references, census.storages
    between = kept[references.source] & kept[references.target]
    chosen, rows = _filtered(references, between), _filtered(storages, kept[storages.node])
    return dataclasses.replace(
        census,
        nodes=_filtered(census.nodes, kept),
        references=dataclasses.replace(chosen, source=number[chosen.source], target=number[chosen.target]),
        storages=dataclasses.replace(rows, node=number[rows.node]),
        host=no_host_buffers(),
    )


def _filtered(table: Table, rows: Bools) -> Table:
    return type(table)(**{name: column[rows] for name, column in _columns(table)})


def _joined(first: Table, second: Table) -> Table:
    added = dict(_columns(second))
    return type(first)(**{name: np.concatenate([column, added[name]]) for name, column in _columns(first)})


def _columns(table: object) -> list[tuple[str, Ints]]:
    return [(field.name, getattr(table, field.name)) for field in dataclasses.fields(table)]  # type: ignore[arg-type]
