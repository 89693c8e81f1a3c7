"""A memory snapshot's lists and dicts, as a pickle or JSON has them, made into columns: the reader in Python.

It reads all formats and says what is wrong with one; `snapshot_columns` reads the usual one sooner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

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
from tenure.store.snapshot_checks import check_places, check_sizes

_ACTIONS = {each.name.lower(): each for each in Action if each is not Action.OTHER}
_STATES = {
    "inactive": BlockState.INACTIVE,
    "active_allocated": BlockState.ALLOCATED,
    "active_pending_free": BlockState.PENDING_FREE,
    "active_awaiting_free": BlockState.PENDING_FREE,  # as torch's documentation calls it
}
_LONG_STACK = 256
_NUMBERS = frozenset((int, bool, float))


def snapshot_of_rows(told: Mapping[str, Any]) -> Snapshot:
    """The snapshot that these lists and dicts tell.

    Raises what Python raises where something is not there or of another kind; texts and numbers are taken for what they
    are alone, for a list that holds itself twice, forty deep, has no end when it is written out.
    """
    return _Reader().snapshot(told)


class _Reader:
    """One reading: stacks, frames and pools are noted once each."""

    def __init__(self) -> None:
        self._stacks: dict[tuple[int, ...], int] = {}
        self._stack_by_frames: dict[tuple[int, ...], int] = {}
        self._stack_by_list: dict[int, int] = {}
        self._frames: dict[Frame, int] = {}
        self._frame_by_dict: dict[int, int] = {}
        self._pools: dict[PoolId, int] = {DEFAULT_POOL: 0}
        self._labels: dict[str, int] = {}
        self._unknown: Counter[str] = Counter()

    def snapshot(self, told: Mapping[str, Any]) -> Snapshot:
        segments = sorted(told["segments"], key=lambda each: (int(each.get("device", 0)), int(each["address"])))
        traces = told.get("device_traces") or ()
        settings = told.get("allocator_settings")
        _check_own([each.get("blocks") for each in segments], "blocks of segments")
        _check_own(traces, "traces of devices")
        read_segments, blocks = self._read_segments(segments), self._read_blocks(segments)
        check_places(read_segments, blocks)
        return Snapshot(
            segments=read_segments,
            blocks=blocks,
            traces={device: self._read_events(trace) for device, trace in enumerate(traces)},
            annotations=read_annotations(told.get("external_annotations")),
            settings=read_settings(settings),
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
                state = _STATES[_text(block["state"])]
                stack = self._stack(block.get("frames"))
                rows.append((number, place, size, size if requested is None else int(requested), state, stack))
                place += size
        return Blocks(*np.array(rows, dtype=np.int64).reshape(len(rows), 6).T)

    def _read_events(self, trace: Sequence[Mapping[str, Any]]) -> Events:
        actions = list(map(_text, map(itemgetter("action"), trace)))
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
        return check_sizes(events)

    def _label(self, told: Any) -> int:
        return self._labels.setdefault(_text(told), len(self._labels)) if told else -1

    def _pool(self, pool: Iterable[Any] | None) -> int:
        if pool is None:
            return 0
        first, second = pool
        return self._pools.setdefault((int(first), int(second)), len(self._pools))

    def _stack(self, frames: Sequence[Mapping[str, Any]] | None) -> int:
        """Frames are shared by the lists that they stand in: each frame and each stack is read once."""
        if not frames:
            return NO_STACK
        if len(frames) > _LONG_STACK:
            return self._long_stack(frames)
        shared = tuple(map(id, frames))
        known = self._stack_by_frames.get(shared)
        if known is None:
            stack = tuple(map(self._frame, frames))
            known = self._stack_by_frames[shared] = self._stacks.setdefault(stack, len(self._stacks))
        return known

    def _long_stack(self, frames: Sequence[Mapping[str, Any]]) -> int:
        """So long a list is gone through once, however many events have it."""
        known = self._stack_by_list.get(id(frames))
        if known is None:
            stack = tuple(map(self._frame, frames))
            known = self._stack_by_list[id(frames)] = self._stacks.setdefault(stack, len(self._stacks))
        return known

    def _frame(self, told: Mapping[str, Any]) -> int:
        known = self._frame_by_dict.get(id(told))
        if known is None:
            frame = Frame(_text(told.get("name", "")), _text(told.get("filename", "")), int(told.get("line", 0)))
            known = self._frame_by_dict[id(told)] = self._frames.setdefault(frame, len(self._frames))
        return known


def read_annotations(told: Iterable[Mapping[str, Any]] | None) -> tuple[Annotation, ...]:
    """The annotations that a snapshot tells, none where it tells none."""
    return tuple(map(_read_annotation, told or ()))


def _read_annotation(told: Mapping[str, Any]) -> Annotation:
    is_start = told["stage"] == "START"
    return Annotation(_text(told["name"]), is_start, int(told.get("device", 0)), int(told.get("time_us", NO_TIME)))


def read_settings(told: Any) -> dict[str, Any] | None:
    """The allocator's settings: texts, numbers, and dicts of these by name; what else stands there is left out."""
    if not isinstance(told, Mapping):
        return None
    simple = {key: value for key, value in told.items() if _is_simple(value)}
    dicts = {
        key: {name: each for name, each in value.items() if _is_simple(each)}
        for key, value in told.items()
        if isinstance(value, Mapping)
    }
    return {**simple, **dicts}


def _is_simple(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not a {type(value).__name__}")
    return value


def _check_own(lists: Iterable[Any], what: str) -> None:
    """ValueError where a list stands in two places: a small file could stand for any number of rows."""
    given = [id(each) for each in lists if each]
    if len(set(given)) < len(given):
        raise ValueError(f"{what} that are one and the same list")


def _column(rows: Sequence[Mapping[str, Any]], key: str, missing: int | None = None, other: str = "") -> Ints:
    """One key of all rows, or `other`, or else `missing`; numbers of 64 bits without sign are taken as with one."""
    try:
        values: list[Any] = list(map(itemgetter(key), rows))
    except KeyError:
        values = [row.get(key, row.get(other, missing)) for row in rows]
        if None in values:
            row = values.index(None)
            raise KeyError(f"`{key}` of row {row}") from None
    if not _NUMBERS.issuperset(map(type, values)):
        raise ValueError(f"`{key}` is no number")
    try:
        found = np.array(values, dtype=np.int64)
    except OverflowError:
        found = np.array([int(value) & (2**64 - 1) for value in values], dtype=np.uint64).astype(np.int64)
    return found
