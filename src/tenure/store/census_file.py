"""One census as a file: an uncompressed `.npz`, one array per column, no pickles."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tenure.errors import NewerFormatError, RecordingError
from tenure.model.heap import Census, Ints, Nodes, References, Storages
from tenure.store.format import FORMAT

Table = TypeVar("Table", Nodes, References, Storages)

_UNREADABLE = (
    AttributeError,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
_NARROWER = (np.int8, np.int16, np.int32)


def write_census(path: Path, census: Census) -> int:
    """Write under a temporary name, then rename: a file of the final name is whole. Gives back its bytes."""
    head = {
        "format": FORMAT,
        "step": census.step,
        "moment": census.moment,
        "seconds": census.seconds,
        "num_objects": census.num_objects,
        "notes": list(census.notes),
    }
    columns = {"head": _pack_json(head), "strings": _pack_json(list(census.strings))}
    columns |= _narrow_columns("nodes", census.nodes)
    columns |= _narrow_columns("references", census.references)
    columns |= _narrow_columns("storages", census.storages)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            np.savez(file, **columns)  # type: ignore[arg-type]
            size = file.tell()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return size


def read_census(path: Path) -> Census:
    """The census in `path`; a missing, cut or foreign file raises RecordingError."""
    try:
        # Opened here, as NumPy leaves a file open that it cannot read.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as columns:
            head = _unpack_json(columns["head"])
            if head["format"] > FORMAT:
                raise NewerFormatError(
                    f"{path} is of format {head['format']}; this Tenure reads up to {FORMAT}: upgrade Tenure"
                )
            return Census(
                step=int(head["step"]),
                moment=str(head["moment"]),
                seconds=float(head["seconds"]),
                num_objects=int(head["num_objects"]),
                strings=tuple(_unpack_json(columns["strings"])),
                nodes=_read_table(Nodes, "nodes", columns),
                references=_read_table(References, "references", columns),
                storages=_read_table(Storages, "storages", columns),
                notes=tuple(head["notes"]),
            )
    except FileNotFoundError:
        raise RecordingError(f"{path}: no such census; the recording was moved or cut") from None
    except _UNREADABLE as error:
        raise RecordingError(f"{path} is no whole census ({error}); delete it to read the rest") from error


def _pack_json(value: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _unpack_json(column: np.ndarray[Any, Any]) -> Any:
    return json.loads(column.tobytes())


def _narrow_columns(name: str, table: Nodes | References | Storages) -> dict[str, Any]:
    return {f"{name}.{item.name}": _narrow(getattr(table, item.name)) for item in fields(table)}


def _narrow(column: Ints) -> np.ndarray[Any, Any]:
    """The same numbers in the smallest integers that hold them: most columns need one or two bytes."""
    column = np.asarray(column, dtype=np.int64)
    if column.size == 0:
        return column.astype(np.int8)
    low, high = int(column.min()), int(column.max())
    for dtype in _NARROWER:
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return column.astype(dtype)
    return column


def _read_table(table: type[Table], name: str, columns: Mapping[str, Any]) -> Table:
    """Columns that a later, still readable writer added are left alone."""
    arrays = {item.name: columns[f"{name}.{item.name}"].astype(np.int64) for item in fields(table)}
    if len({array.shape for array in arrays.values()}) != 1:
        raise ValueError(f"the columns of {name} differ in length")
    return table(**arrays)
