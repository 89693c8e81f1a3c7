"""One census as a file: an uncompressed `.npz`, one array per column, no pickles."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tenure.model.heap import Census, ChildMemory, HostBuffers, Nodes, References, Storages, no_host_buffers
from tenure.store.column_arrays import pack_json, pack_table, reading_arrays, unpack_json, unpack_table, write_arrays
from tenure.store.format import FORMAT


def write_census(path: Path, census: Census) -> int:
    """Write under a temporary name, then rename: a file of the final name is whole. Gives back its bytes."""
    head = {
        "format": FORMAT,
        "step": census.step,
        "moment": census.moment,
        "seconds": census.seconds,
        "num_objects": census.num_objects,
        "notes": list(census.notes),
        "counts": census.counts,
        "children": [dataclasses.astuple(child) for child in census.children],
    }
    columns = {"head": pack_json(head), "strings": pack_json(list(census.strings))}
    columns |= pack_table("nodes", census.nodes)
    columns |= pack_table("references", census.references)
    columns |= pack_table("storages", census.storages)
    columns |= pack_table("host", census.host)
    return write_arrays(path, columns)


def read_census(path: Path) -> Census:
    """The census in `path`; a missing, cut or foreign file raises RecordingError."""
    with reading_arrays(path, "census") as (head, columns):
        return Census(
            step=int(head["step"]),
            moment=str(head["moment"]),
            seconds=float(head["seconds"]),
            num_objects=int(head["num_objects"]),
            strings=tuple(unpack_json(columns["strings"])),
            nodes=unpack_table(Nodes, "nodes", columns, newer=("called_in",)),
            references=unpack_table(References, "references", columns),
            storages=unpack_table(Storages, "storages", columns, newer=("pointer", "serial", "version")),
            notes=tuple(head["notes"]),
            counts=dict(head.get("counts", {})),
            children=tuple(ChildMemory(*map(int, child)) for child in head.get("children", ())),
            host=unpack_table(HostBuffers, "host", columns) if "host.owner" in columns else no_host_buffers(),
        )
