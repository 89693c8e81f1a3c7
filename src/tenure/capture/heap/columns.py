"""Grows a census row by row, then hands it over as columns.

Rows are kept in plain Python lists of numbers and strings: nothing here refers to a user's object.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from tenure.model.heap import (
    Census,
    ChildMemory,
    HostBuffers,
    Ints,
    NodeKind,
    Nodes,
    ReferenceKind,
    References,
    Storages,
)


class StringTable:
    """Text to position, each text once."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Position of `text`; -1 for the empty text."""
        if not text:
            return -1
        return self.positions.setdefault(text, len(self.positions))


class CensusColumns:
    """The census under construction. Node, reference and storage rows are appended, never removed."""

    def __init__(self) -> None:
        self.strings = StringTable()
        self.nodes: dict[str, list[int]] = {field.name: [] for field in fields(Nodes)}
        self.references: dict[str, list[int]] = {field.name: [] for field in fields(References)}
        self.storages: dict[str, list[int]] = {field.name: [] for field in fields(Storages)}
        self.host: dict[str, list[int]] = {field.name: [] for field in fields(HostBuffers)}

    def add_node(self, kind: int, type_name: str, *, address: int = 0, name: str = "", file: str = "",
                 line: int = 0, unseen: int = 0, native: int = 0, length: int = -1, bound: int = -1,
                 flags: int = 0) -> int:  # fmt: skip
        """The new node's number."""
        row = (kind, self.strings.add(type_name), self.strings.add(name), self.strings.add(file), line, address,
               unseen, native, length, bound, flags, 0)  # fmt: skip
        for column, value in zip(self.nodes.values(), row, strict=True):
            column.append(value)
        return len(self.nodes["kind"]) - 1

    def add_reference(self, source: int, target: int, kind: ReferenceKind, label: str = "") -> None:
        """One labelled reference from node `source` to node `target`."""
        self.references["source"].append(source)
        self.references["target"].append(target)
        self.references["kind"].append(kind)
        self.references["label"].append(self.strings.add(label))

    def add_storage(self, node: int, *, num_bytes: int, view_bytes: int, num_views: int, role: int, device: str,
                    dtype: str, shape: str, pointer: int, serial: int = 0,
                    version: int = 0) -> int:  # fmt: skip
        """Row number of a storage whose node is `node`."""
        row = (node, num_bytes, view_bytes, num_views, role, self.strings.add(device), self.strings.add(dtype),
               self.strings.add(shape), pointer, serial, version)  # fmt: skip
        for column, value in zip(self.storages.values(), row, strict=True):
            column.append(value)
        return len(self.storages["node"]) - 1

    def add_host_buffers(self, owner: int, num_bytes: int, kind: ReferenceKind, label: str, type_name: str) -> None:
        """Host memory that node `owner` alone holds by one reference, or by many like it."""
        row = (owner, num_bytes, kind, self.strings.add(label), self.strings.add(type_name))
        for column, value in zip(self.host.values(), row, strict=True):
            column.append(value)

    def finish(self, *, step: int, moment: str, seconds: float, num_objects: int, notes: tuple[str, ...],
               counts: dict[str, int], children: tuple[ChildMemory, ...] = ()) -> Census:  # fmt: skip
        """The columns as an immutable census, without objects that refer to nothing and that nothing refers to."""
        nodes, references, storages = _arrays(self.nodes), _arrays(self.references), _arrays(self.storages)
        host = _arrays(self.host)
        kept = nodes["kind"] != NodeKind.OBJECT
        kept[references["source"]] = True
        kept[references["target"]] = True
        kept[host["owner"]] = True
        number = np.cumsum(kept) - 1
        return Census(
            step=step,
            moment=moment,
            seconds=seconds,
            num_objects=num_objects,
            strings=tuple(self.strings.positions),
            nodes=Nodes(**{name: column[kept] for name, column in nodes.items()}),
            references=References(
                source=number[references["source"]],
                target=number[references["target"]],
                kind=references["kind"],
                label=references["label"],
            ),
            storages=Storages(**{**storages, "node": number[storages["node"]]}),
            notes=notes,
            counts=counts,
            children=children,
            host=HostBuffers(**{**host, "owner": number[host["owner"]]}),
        )


def _arrays(columns: dict[str, list[int]]) -> dict[str, Ints]:
    return {name: np.array(column, dtype=np.int64) for name, column in columns.items()}
