"""Reads torch's memory snapshots: what `torch.cuda.memory._dump_snapshot` and `_snapshot` write, from torch 2.0 on.

Needs no torch. Pickles are looked through first (`pickle_scan`) and loaded by an unpickler that resolves no names; JSON
of the same keys, and both compressed by gzip, are read too. Unknown keys are left out, unknown actions counted.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

from tenure.errors import SnapshotError
from tenure.model.allocator import Snapshot
from tenure.store.pickle_scan import check_pickle
from tenure.store.snapshot_columns import read_columns
from tenure.store.snapshot_rows import snapshot_of_rows

_GZIP = b"\x1f\x8b"
_LONGEST_REASON = 300
_MOST_UNPACKED = 64
"""A gzip file may grow to so many times its size; snapshots of torch's grow to about ten times."""
_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)


def read_snapshot(path: str | Path) -> Snapshot:
    """The snapshot in this file.

    Raises SnapshotError where there is none, it is cut off or damaged, or its pickle asks for code. Cost, of an event
    with a stack of 40 frames: half a microsecond and about 150 bytes; in Python eight and 500.
    """
    name = str(path)
    try:
        with Path(path).open("rb", buffering=0) as file:
            found = read_columns(file.read)
        if found is not None:
            return found
        data = Path(path).read_bytes()
    except OSError as error:
        raise SnapshotError(f"cannot read {name}: {error.strerror or error}") from error
    return snapshot_from_bytes(data, name)


def snapshot_from_bytes(data: bytes, name: str) -> Snapshot:
    """The snapshot that a file of this content is; `name` is what errors call it. Raises as `read_snapshot`."""
    if data.startswith(_GZIP):
        data = _unpacked(data, name)
    return read_columns(io.BytesIO(data).read) or snapshot_in_python(data, name)


def snapshot_in_python(data: bytes, name: str) -> Snapshot:
    """The same of what is not compressed, by the reader in Python, which reads all formats."""
    told = _from_json(data, name) if data.lstrip()[:1] in (b"{", b"[") else _from_pickle(data, name)
    if isinstance(told, list):  # torch 2.0 could give the segments alone
        told = {"segments": told}
    if not isinstance(told, dict) or not isinstance(told.get("segments"), (list, tuple)):
        raise SnapshotError(
            f"{name}: no memory snapshot: there are no `segments` in it; "
            "torch.cuda.memory._dump_snapshot(FILE) writes one"
        )
    try:
        return snapshot_of_rows(told)
    except _DAMAGED as error:
        raise SnapshotError(f"{name}: a damaged snapshot: {_in_one_line(error)}") from error


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            found = packed.read(len(data) * _MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SnapshotError(f"{name}: a damaged gzip file: {error}") from error
    if len(found) > len(data) * _MOST_UNPACKED:
        raise SnapshotError(f"{name}: a gzip file that unpacks to over {_MOST_UNPACKED} times its size is not read")
    return found


def _from_json(data: bytes, name: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{name}: damaged JSON: {error}") from error


def _from_pickle(data: bytes, name: str) -> Any:
    check_pickle(data, name)
    try:
        return _NamelessUnpickler(io.BytesIO(data)).load()
    except SnapshotError:
        raise
    except Exception as error:  # an unpickler raises whatever it stumbles over
        raise SnapshotError(f"{name}: a damaged pickle: {_in_one_line(error)}") from error


def _in_one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:_LONGEST_REASON]


class _NamelessUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise SnapshotError(f"the pickle calls for {module}.{name}; nothing of it was run")
