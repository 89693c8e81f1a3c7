"""One profile as a file: an uncompressed `.npz`, one array per column, no pickles."""

from __future__ import annotations

from pathlib import Path

from tenure.model.profile import NO_USES, Operations, ProfiledStorages, Sites, StepProfile, Uses
from tenure.store.column_arrays import pack_json, pack_table, reading_arrays, unpack_json, unpack_table, write_arrays
from tenure.store.format import FORMAT


def write_profile(path: Path, profile: StepProfile) -> int:
    """Write whole or not at all; gives back the file's bytes."""
    head = {
        "format": FORMAT,
        "step": profile.step,
        "second": profile.second,
        "census_op": profile.census_op,
        "seconds": profile.seconds,
    }
    columns = {"head": pack_json(head), "strings": pack_json(list(profile.strings))}
    columns |= pack_table("operations", profile.operations)
    columns |= pack_table("sites", profile.sites)
    columns |= pack_table("storages", profile.storages)
    columns |= pack_table("uses", profile.uses)
    return write_arrays(path, columns)


def read_profile(path: Path) -> StepProfile:
    """The profile in `path`; a missing, cut or foreign file raises RecordingError."""
    with reading_arrays(path, "profile") as (head, columns):
        return StepProfile(
            step=int(head["step"]),
            second=int(head["second"]),
            census_op=int(head["census_op"]),
            seconds=float(head["seconds"]),
            strings=tuple(unpack_json(columns["strings"])),
            operations=unpack_table(Operations, "operations", columns),
            sites=unpack_table(Sites, "sites", columns),
            storages=unpack_table(ProfiledStorages, "storages", columns),
            uses=unpack_table(Uses, "uses", columns) if "uses.operation" in columns else NO_USES,
        )
