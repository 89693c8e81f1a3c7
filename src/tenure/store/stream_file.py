"""The memory stream of two steps as a file: an uncompressed `.npz`, one array per column, no pickles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tenure.model.profile import Operations, ProfiledStorages, Sites, StepProfile
from tenure.model.stream import StepStream, StorageOwners
from tenure.store.column_arrays import pack_json, pack_table, reading_arrays, unpack_json, unpack_table, write_arrays
from tenure.store.format import FORMAT


def write_stream(path: Path, stream: StepStream) -> int:
    """Write whole or not at all; gives back the file's bytes."""
    profile = stream.profile
    head = {
        "format": FORMAT,
        "step": profile.step,
        "second": profile.second,
        "seconds": profile.seconds,
        "graph_reads": list(stream.graph_reads),
        "notes": list(stream.notes),
    }
    columns = {"head": pack_json(head), "strings": pack_json(list(profile.strings)), "modules": stream.modules}
    columns["flops"] = stream.flops
    columns |= pack_table("operations", profile.operations)
    columns |= pack_table("sites", profile.sites)
    columns |= pack_table("storages", profile.storages)
    columns |= pack_table("owners", stream.owners)
    return write_arrays(path, columns)


def read_stream(path: Path) -> StepStream:
    """The stream in `path`; a missing, cut or foreign file raises RecordingError."""
    with reading_arrays(path, "stream") as (head, columns):
        profile = StepProfile(
            step=int(head["step"]),
            second=int(head["second"]),
            census_op=-1,
            seconds=float(head["seconds"]),
            strings=tuple(unpack_json(columns["strings"])),
            operations=unpack_table(Operations, "operations", columns),
            sites=unpack_table(Sites, "sites", columns),
            storages=unpack_table(ProfiledStorages, "storages", columns),
        )
        stream = StepStream(
            profile,
            modules=columns["modules"].astype(np.int64),
            owners=unpack_table(StorageOwners, "owners", columns),
            graph_reads=tuple(map(int, head["graph_reads"])),
            notes=tuple(map(str, head["notes"])),
            flops=columns["flops"].astype(np.int64),
        )
        if {len(stream.modules), len(stream.flops)} != {profile.num_operations} or len(stream.owners.owner) != len(
            profile.storages.bytes
        ):
            raise ValueError("the tables differ in length")
        return stream
