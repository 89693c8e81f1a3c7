"""Snapshots of every torch since 2.0 are read, and files that are none are told in one line."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from tenure.errors import SnapshotError
from tenure.model.allocator import NO_STACK, NO_TIME, Action, Annotation, BlockState, Frame, Snapshot
from tenure.store.torch_snapshot import read_snapshot, snapshot_from_bytes

FRAMES = [{"name": "forward", "filename": "net.py", "line": 7}, {"name": "main", "filename": "train.py", "line": 3}]


def block(**told: Any) -> dict[str, Any]:
    return {"size": 1024, "requested_size": 1000, "state": "active_allocated", **told}


def segment(**told: Any) -> dict[str, Any]:
    base = {"device": 0, "address": 4096, "total_size": 2048, "stream": 0, "segment_type": "small"}
    return {**base, "blocks": [block(address=4096), block(address=5120, state="inactive")], **told}


def snapshot(**told: Any) -> dict[str, Any]:
    return {"segments": [segment()], "device_traces": [[]], **told}


def read(told: object) -> Snapshot:
    return snapshot_from_bytes(pickle.dumps(told), "file")


def test_events_become_columns() -> None:
    trace = [
        {"action": "alloc", "addr": 4096, "size": 1000, "stream": 3, "time_us": 17, "frames": FRAMES},
        {"action": "free_requested", "addr": 4096, "size": 1000, "stream": 3, "time_us": 18, "frames": FRAMES},
        {"action": "oom", "device_free": 123, "size": 5, "stream": 0, "time_us": 19, "frames": []},
        {"action": "snapshot", "addr": 0, "size": 9, "stream": 0, "time_us": 20},
    ]

    found = read(snapshot(device_traces=[[], trace]))
    events = found.traces[1]

    assert events.action.tolist() == [Action.ALLOC, Action.FREE_REQUESTED, Action.OOM, Action.SNAPSHOT]
    assert events.address.tolist() == [4096, 4096, 123, 0]
    assert events.bytes.tolist() == [1000, 1000, 5, 9]
    assert events.stream.tolist() == [3, 3, 0, 0]
    assert events.time_us.tolist() == [17, 18, 19, 20]
    assert events.stack.tolist() == [0, 0, NO_STACK, NO_STACK]
    assert events.pool.tolist() == [-1] * 4
    assert (found.stacks, found.frames) == (((0, 1),), (Frame("forward", "net.py", 7), Frame("main", "train.py", 3)))
    assert (len(found.traces[0]), found.devices) == (0, (0, 1))


def test_segments_and_blocks_become_columns_in_the_order_of_addresses() -> None:
    other = segment(address=1 << 40, segment_type="large", segment_pool_id=(2, 1), is_expandable=True, stream=5)
    pending = {**other, "blocks": [block(address=1 << 40, state="active_pending_free", frames=FRAMES)]}

    found = read(snapshot(segments=[pending, segment()]))

    assert found.segments.address.tolist() == [4096, 1 << 40]
    assert found.segments.bytes.tolist() == [2048, 2048]
    assert found.segments.stream.tolist() == [0, 5]
    assert (found.segments.is_small.tolist(), found.segments.is_expandable.tolist()) == ([1, 0], [0, 1])
    assert (found.segments.pool.tolist(), found.pools) == ([0, 1], ((0, 0), (2, 1)))
    assert found.blocks.segment.tolist() == [0, 0, 1]
    assert found.blocks.address.tolist() == [4096, 5120, 1 << 40]
    assert found.blocks.requested.tolist() == [1000, 1000, 1000]
    states = [BlockState.ALLOCATED, BlockState.INACTIVE, BlockState.PENDING_FREE]
    assert found.blocks.state.tolist() == states
    assert found.blocks.stack.tolist() == [NO_STACK, NO_STACK, 0]


def test_the_oldest_format_has_neither_addresses_of_blocks_nor_times_nor_settings() -> None:
    old = segment(
        blocks=[{"size": 512, "state": "inactive", "history": []}, {"size": 1536, "state": "active_allocated"}]
    )
    trace = [{"action": "free_completed", "addr": 4608, "size": 1500, "stream": 0}]

    found = read({"segments": [old], "device_traces": [trace]})

    assert found.blocks.address.tolist() == [4096, 4608]
    assert found.blocks.requested.tolist() == [512, 1536]
    assert found.traces[0].time_us.tolist() == [NO_TIME]
    assert (found.settings, found.annotations) == (None, ())


def test_segments_alone_are_a_snapshot() -> None:
    found = read([segment()])

    assert (len(found.segments), len(found.blocks), dict(found.traces)) == (1, 2, {})


def test_what_a_later_torch_adds_is_left_out_and_unknown_actions_are_counted() -> None:
    trace = [
        {"action": "annotate", "addr": 1, "size": 2, "stream": 0, "time_us": 3, "note": "tape"},
        {"action": "alloc", "addr": 1, "size": 2, "stream": 0, "time_us": 4, "pool_id": (7, 0), "user_metadata": "x"},
    ]
    annotations = [{"stage": "START", "name": "Optimizer.step#AdamW.step", "device": 0, "time_us": 5}]

    found = read(snapshot(device_traces=[trace], external_annotations=annotations, news={"a": 1}))

    assert found.traces[0].action.tolist() == [Action.OTHER, Action.ALLOC]
    assert found.unknown_actions == {"annotate": 1}
    assert (found.traces[0].pool.tolist(), found.pools) == ([-1, 1], ((0, 0), (7, 0)))
    assert found.annotations == (Annotation("Optimizer.step#AdamW.step", True, 0, 5),)


def test_addresses_of_64_bits_are_read() -> None:
    high = (1 << 63) + 512
    trace = [{"action": "alloc", "addr": high, "size": 2, "stream": 0}]

    found = read(snapshot(device_traces=[trace]))

    assert found.traces[0].address.tolist() == [high - (1 << 64)]


def test_json_and_gzip_are_read_as_the_pickle_is(tmp_path: Path) -> None:
    told = snapshot(allocator_settings={"expandable_segments": True})
    files = {
        "a.pickle": pickle.dumps(told, 2),
        "a.json": json.dumps(told).encode(),
        "a.pickle.gz": gzip.compress(pickle.dumps(told)),
        "a.json.gz": gzip.compress(json.dumps(told).encode()),
    }
    found = []
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        read_file = read_snapshot(tmp_path / name)
        found.append((read_file.blocks.address.tolist(), read_file.settings))

    assert found == [([4096, 5120], {"expandable_segments": True})] * 4


class Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit(3)",)


def endless() -> list[object]:
    """A list that holds one twice, and so on: written out it has no end."""
    held: list[object] = ["x"]
    for _ in range(60):
        held = [held, held]
    return held


@pytest.mark.parametrize(
    "told",
    [
        {"segments": endless()},
        snapshot(segments=[segment(stream=endless())]),
        snapshot(segments=[segment(blocks=[block(state=endless())])]),
        snapshot(device_traces=[[{"action": endless(), "addr": 1}]]),
        snapshot(device_traces=[[{"action": "alloc", "addr": endless()}]]),
        snapshot(device_traces=[[{"action": "alloc", "addr": 1, "user_metadata": endless()}]]),
        snapshot(device_traces=[[{"action": "alloc", "addr": 1, "frames": [{"name": endless()}]}]]),
        snapshot(external_annotations=[{"stage": "START", "name": endless()}]),
        snapshot(segments=[segment(blocks=shared) for shared in [[block()] * 100] for _ in range(100)]),
        snapshot(device_traces=[[{"action": "alloc", "addr": 1}] * 100] * 100),
    ],
)
def test_a_small_file_that_stands_for_much_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(SnapshotError, match="file: a damaged snapshot"):
        read(told)


def test_settings_that_stand_for_much_are_left_out() -> None:
    told = snapshot(
        allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": endless(), "max_split_size": -1, "more": {"a": endless()}}
    )

    assert read(told).settings == {"max_split_size": -1, "more": {}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "file: the pickle ends in the middle, after 0 bytes; was it copied whole?"),
        (pickle.dumps(snapshot())[:-20], "the pickle ends in the middle"),
        (pickle.dumps(Runs()), "nothing of it was run"),
        (pickle.dumps({"a": 1}), "file: no memory snapshot: there are no `segments` in it"),
        (pickle.dumps(7), "file: no memory snapshot"),
        (pickle.dumps({"segments": [{"address": 3}]}), "file: a damaged snapshot: KeyError: '`total_size` of row 0'"),
        (pickle.dumps({"segments": [segment(blocks=[block(state="?")])]}), "a damaged snapshot: KeyError: '?'"),
        (pickle.dumps({"segments": [segment(address="x")]}), "a damaged snapshot: ValueError"),
        (pickle.dumps(snapshot(device_traces=[[{"addr": 1}]])), "a damaged snapshot: KeyError: 'action'"),
        (
            pickle.dumps(snapshot(device_traces=[[{"action": "alloc"}]])),
            "a damaged snapshot: KeyError: '`addr` of row 0'",
        ),
        (pickle.dumps({"segments": [segment(), segment()]}), "a damaged snapshot: ValueError: segments that overlap"),
        (pickle.dumps({"segments": [segment(total_size=1024)]}), "a damaged snapshot: ValueError: blocks that overlap"),
        (b'{"segments": [', "file: damaged JSON"),
        (b"[" * 100_000, "file: damaged JSON"),
        (gzip.compress(b"x" * 1_000, mtime=0)[:-9], "file: a damaged gzip file"),
        (
            gzip.compress(b"\0" * 10_000_000, mtime=0),
            "file: a gzip file that unpacks to over 64 times its size is not read",
        ),
    ],
)
def test_what_is_no_snapshot_is_told_in_one_line(data: bytes, expected: str) -> None:
    with pytest.raises(SnapshotError) as raised:
        snapshot_from_bytes(data, "file")

    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"cannot read .*: No such file or directory"):
        read_snapshot(tmp_path / "none.pickle")
