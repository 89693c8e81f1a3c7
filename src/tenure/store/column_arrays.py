"""Columns of numbers and tables of text as the arrays of an `.npz` file."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tenure.errors import NewerFormatError, RecordingError
from tenure.model.heap import Ints
from tenure.store.format import FORMAT
from tenure.store.whole_file import whole_file

Table = TypeVar("Table")
_NARROWER = (np.int8, np.int16, np.int32)
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


def write_arrays(path: Path, columns: Mapping[str, Any]) -> int:
    """Write under a temporary name, then rename: a file of the final name is whole. Gives back its bytes."""
    with whole_file(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **columns)
        return file.tell()


@contextmanager
def reading_arrays(path: Path, what: str) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """The head and the columns of a file, while they are made a `what` ("census") of.

    A missing, cut or foreign file raises RecordingError, one of a later format NewerFormatError.
    """
    try:
        # Opened here, as NumPy leaves a file open that it cannot read.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as columns:
            head = unpack_json(columns["head"])
            if head["format"] > FORMAT:
                raise NewerFormatError(
                    f"{path} is of format {head['format']}; this Tenure reads up to {FORMAT}: upgrade Tenure"
                )
            yield head, columns
    except FileNotFoundError:
        raise RecordingError(f"{path}: no such {what}; the recording was moved or cut") from None
    except _UNREADABLE as error:
        raise RecordingError(f"{path} is no whole {what} ({error}); delete it to read the rest") from error


def pack_json(value: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """JSON text as bytes."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def unpack_json(column: np.ndarray[Any, Any]) -> Any:
    """The value that `pack_json` packed."""
    return json.loads(column.tobytes())


def pack_table(name: str, table: Any) -> dict[str, Any]:
    """The columns of a dataclass of arrays, named `name.column`."""
    return {f"{name}.{item.name}": _narrow(getattr(table, item.name)) for item in fields(table)}


def unpack_table(table: type[Table], name: str, columns: Mapping[str, Any], *, newer: Sequence[str] = ()) -> Table:
    """Columns that a later, still readable writer added are left alone; those in `newer` may be absent: zeros then."""
    names = [item.name for item in fields(table)]  # type: ignore[arg-type]
    absent = [column for column in newer if f"{name}.{column}" not in columns]
    arrays = {column: columns[f"{name}.{column}"].astype(np.int64) for column in names if column not in absent}
    arrays |= {column: np.zeros_like(arrays[names[0]]) for column in absent}
    if len({array.shape for array in arrays.values()}) != 1:
        raise ValueError(f"the columns of {name} differ in length")
    return table(**arrays)


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
