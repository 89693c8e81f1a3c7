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
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from tenure.errors import SnapshotError
from tenure.model.allocator import (
    DEFAULT_POOL,
    NO_STACK,
    NO_TIME,
    Action,
    Annotation,
    Blocks,
    BlockState,
    Events,
    Frame,
    PoolId,
    Segments,
    Snapshot,
)
from tenure.model.heap import Ints
from tenure.store.pickle_scan import check_pickle

_ACTIONS = {each.name.lower(): each for each in Action if each is not Action.OTHER}
_STATES = {
    "inactive": BlockState.INACTIVE,
    "active_allocated": BlockState.ALLOCATED,
    "active_pending_free": BlockState.PENDING_FREE,
    "active_awaiting_free": BlockState.PENDING_FREE,  # as torch's documentation calls it
}
_GZIP = b"\x1f\x8b"
_MOST_UNPACKED = 64
"""A gzip file may grow to so many times its size; snapshots of torch's grow to about ten times."""
_MOST_BYTES = 1 << 41
_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError)


def read_snapshot(path: str | Path) -> Snapshot:
    """The snapshot in this file.

    Raises SnapshotError where there is none, it is cut off or damaged, or its pickle asks for code. Cost: two to five
    microseconds per event and, while it is read, four to five times the file's size in memory.
    """
    name = str(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SnapshotError(f"cannot read {name}: {error.strerror or error}") from error
    return snapshot_from_bytes(data, name)


def snapshot_from_bytes(data: bytes, name: str) -> Snapshot:
    """The snapshot that a file of this content is; `name` is what errors call it. Raises as `read_snapshot`."""
    if data.startswith(_GZIP):
        data = _unpacked(data, name)
    told = _from_json(data, name) if data.lstrip()[:1] in (b"{", b"[") else _from_pickle(data, name)
    if isinstance(told, list):  # torch 2.0 could give the segments alone
        told = {"segments": told}
    if not isinstance(told, dict) or not isinstance(told.get("segments"), (list, tuple)):
        raise SnapshotError(
            f"{name}: no memory snapshot: there are no `segments` in it; "
            "torch.cuda.memory._dump_snapshot(FILE) writes one"
        )
    try:
        return _Reader().snapshot(told)
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
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class _NamelessUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise SnapshotError(f"the pickle calls for {module}.{name}; nothing of it was run")


class _Reader:
    """One reading: stacks, frames and pools are noted once each."""

    def __init__(self) -> None:
        self._stacks: dict[tuple[int, ...], int] = {}
        self._stack_by_frames: dict[tuple[int, ...], int] = {}
        self._frames: dict[Frame, int] = {}
        self._frame_by_dict: dict[int, int] = {}
        self._pools: dict[PoolId, int] = {DEFAULT_POOL: 0}
        self._labels: dict[str, int] = {}
        self._unknown: Counter[str] = Counter()

    def snapshot(self, told: Mapping[str, Any]) -> Snapshot:
        segments = sorted(told["segments"], key=lambda each: (int(each.get("device", 0)), int(each["address"])))
        traces = told.get("device_traces") or ()
        settings = told.get("allocator_settings")
        read_segments, blocks = self._read_segments(segments), self._read_blocks(segments)
        _check_places(read_segments, blocks)
        return Snapshot(
            segments=read_segments,
            blocks=blocks,
            traces={device: self._read_events(trace) for device, trace in enumerate(traces)},
            annotations=tuple(map(_read_annotation, told.get("external_annotations") or ())),
            settings=dict(settings) if isinstance(settings, Mapping) else None,
            stacks=tuple(self._stacks),
            frames=tuple(self._frames),
            pools=tuple(self._pools),
            labels=tuple(self._labels),
            unknown_actions=dict(self._unknown),
        )

    def _read_segments(self, segments: Sequence[Mapping[str, Any]]) -> Segments:
        return Segments(
            device=_column(segments, "device", 0),
            address=_column(segments, "address"),
            bytes=_column(segments, "total_size"),
            stream=_column(segments, "stream", 0),
            is_small=np.array([each.get("segment_type") == "small" for each in segments], dtype=np.int64),
            is_expandable=np.array([bool(each.get("is_expandable")) for each in segments], dtype=np.int64),
            pool=np.array([self._pool(each.get("segment_pool_id")) for each in segments], dtype=np.int64),
        )

    def _read_blocks(self, segments: Sequence[Mapping[str, Any]]) -> Blocks:
        rows: list[tuple[int, int, int, int, int, int]] = []
        for number, segment in enumerate(segments):
            place = int(segment["address"])
            for block in segment["blocks"]:
                place = int(block.get("address", place))  # torch 2.0 does not tell it: they lie side by side
                size = int(block["size"])
                requested = block.get("requested_size", block.get("real_size"))
                state = _STATES[block["state"]]
                stack = self._stack(block.get("frames"))
                rows.append((number, place, size, size if requested is None else int(requested), state, stack))
                place += size
        return Blocks(*np.array(rows, dtype=np.int64).reshape(len(rows), 6).T)

    def _read_events(self, trace: Sequence[Mapping[str, Any]]) -> Events:
        actions = list(map(itemgetter("action"), trace))
        self._unknown.update(each for each in actions if each not in _ACTIONS)
        events = Events(
            action=np.array([_ACTIONS.get(each, Action.OTHER) for each in actions], dtype=np.int64),
            address=_column(trace, "addr", None, "device_free"),
            bytes=_column(trace, "size", 0),
            stream=_column(trace, "stream", 0),
            time_us=_column(trace, "time_us", NO_TIME),
            stack=np.array([self._stack(each.get("frames")) for each in trace], dtype=np.int64),
            pool=np.array([self._pool(each["pool_id"]) if "pool_id" in each else -1 for each in trace], dtype=np.int64),
            label=np.array([self._label(each.get("user_metadata")) for each in trace], dtype=np.int64),
        )
        return _check_sizes(events)

    def _label(self, told: Any) -> int:
        return self._labels.setdefault(str(told), len(self._labels)) if told else -1

    def _pool(self, pool: Iterable[Any] | None) -> int:
        if pool is None:
            return 0
        first, second = pool
        return self._pools.setdefault((int(first), int(second)), len(self._pools))

    def _stack(self, frames: Sequence[Mapping[str, Any]] | None) -> int:
        """Frames are shared by the lists that they stand in: each frame and each stack is read once."""
        if not frames:
            return NO_STACK
        shared = tuple(map(id, frames))
        known = self._stack_by_frames.get(shared)
        if known is None:
            stack = tuple(map(self._frame, frames))
            known = self._stack_by_frames[shared] = self._stacks.setdefault(stack, len(self._stacks))
        return known

    def _frame(self, told: Mapping[str, Any]) -> int:
        known = self._frame_by_dict.get(id(told))
        if known is None:
            frame = Frame(str(told.get("name", "")), str(told.get("filename", "")), int(told.get("line", 0)))
            known = self._frame_by_dict[id(told)] = self._frames.setdefault(frame, len(self._frames))
        return known


def _check_places(segments: Segments, blocks: Blocks) -> None:
    """ValueError unless segments lie apart, and blocks apart in their segments."""
    ends = segments.address + segments.bytes
    apart = (segments.address[1:] >= ends[:-1]) | (segments.device[1:] != segments.device[:-1])
    if (segments.address < 0).any() or (segments.bytes <= 0).any() or not apart.all():
        raise ValueError("segments that overlap, or have no bytes")
    block_ends = blocks.address + blocks.bytes
    apart = (blocks.address[1:] >= block_ends[:-1]) | (blocks.segment[1:] != blocks.segment[:-1])
    inside = (blocks.address >= segments.address[blocks.segment]) & (block_ends <= ends[blocks.segment])
    if (segments.bytes > _MOST_BYTES).any() or (blocks.requested > _MOST_BYTES).any():
        raise ValueError("more bytes than any device has")
    if (blocks.bytes <= 0).any() or (blocks.requested < 0).any() or not (apart.all() and inside.all()):
        raise ValueError("blocks that overlap, have no bytes, or lie outside of their segments")


def _check_sizes(events: Events) -> Events:
    if (events.bytes < 0).any() or (events.bytes > _MOST_BYTES).any():
        raise ValueError("an event of fewer than no bytes, or of more than any device has")
    return events


def _read_annotation(told: Mapping[str, Any]) -> Annotation:
    is_start = told["stage"] == "START"
    return Annotation(str(told["name"]), is_start, int(told.get("device", 0)), int(told.get("time_us", NO_TIME)))


def _column(rows: Sequence[Mapping[str, Any]], key: str, missing: int | None = None, other: str = "") -> Ints:
    """One key of all rows, or `other`, or else `missing`; numbers of 64 bits without sign are taken as with one."""
    try:
        values: list[Any] = list(map(itemgetter(key), rows))
    except KeyError:
        values = [row.get(key, row.get(other, missing)) for row in rows]
        if None in values:
            row = values.index(None)
            raise KeyError(f"`{key}` of row {row}") from None
    try:
        found = np.array(values, dtype=np.int64)
    except OverflowError:
        found = np.array([int(value) & (2**64 - 1) for value in values], dtype=np.uint64).astype(np.int64)
    if found.ndim != 1:
        raise ValueError(f"`{key}` is no number")
    return found
