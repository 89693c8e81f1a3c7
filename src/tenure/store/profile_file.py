"""One profile as a file: an uncompressed `.npz`, one array per column, no pickles."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from tenure.errors import NewerFormatError, RecordingError
from tenure.model.profile import Operations, ProfiledStorages, Sites, StepProfile
from tenure.store.column_arrays import pack_json, pack_table, unpack_json, unpack_table, write_arrays
from tenure.store.format import FORMAT

_UNREADABLE = (
    AttributeError, EOFError, KeyError, NotImplementedError, OSError, TypeError, ValueError,
    struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


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
    return write_arrays(path, columns)


def read_profile(path: Path) -> StepProfile:
    """The profile in `path`; a missing, cut or foreign file raises RecordingError."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as columns:
            head = unpack_json(columns["head"])
            if head["format"] > FORMAT:
                raise NewerFormatError(
                    f"{path} is of format {head['format']}; this Tenure reads up to {FORMAT}: upgrade Tenure"
                )
            return StepProfile(
                step=int(head["step"]),
                second=int(head["second"]),
                census_op=int(head["census_op"]),
                seconds=float(head["seconds"]),
                strings=tuple(unpack_json(columns["strings"])),
                operations=unpack_table(Operations, "operations", columns),
                sites=unpack_table(Sites, "sites", columns),
                storages=unpack_table(ProfiledStorages, "storages", columns),
            )
    except FileNotFoundError:
        raise RecordingError(f"{path}: no such profile; the recording was moved or cut") from None
    except _UNREADABLE as error:
        raise RecordingError(f"{path} is no whole profile ({error}); delete it to read the rest") from error
