"""The native reader gives back what the reader in Python gives back, or leaves a file to it."""

from __future__ import annotations

import dataclasses
import io
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.recorded import Program
from allocator.training import Training
from store.test_snapshot_fuzz import trained, with_bytes_changed, with_values_changed
from tenure.allocator.settings import AllocatorSettings
from tenure.errors import SnapshotError
from tenure.store import snapshot_columns
from tenure.store.snapshot_columns import read_columns
from tenure.store.torch_snapshot import read_snapshot, snapshot_in_python

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "snapshots"
pytestmark = pytest.mark.skipif(snapshot_columns._native is None, reason="the native reader is not built")


def natively(data: bytes) -> Any:
    found = read_columns(io.BytesIO(data).read)
    return None if found is None else whole(found)


def in_python(data: bytes) -> Any:
    return whole(snapshot_in_python(data, "file"))


def whole(value: Any) -> Any:
    """A dataclass as plain lists, so that two can be compared."""
    if dataclasses.is_dataclass(value):
        return [type(value).__name__, *(whole(getattr(value, each.name)) for each in dataclasses.fields(value))]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, dict):
        return [(key, whole(each)) for key, each in value.items()]
    return [whole(each) for each in value] if isinstance(value, tuple) else value


@given(seed=st.integers(0, 10_000), protocol=st.integers(2, 5), expandable=st.booleans(), kept=st.integers(0, 40))
def test_what_programs_record_is_read_alike(seed: int, protocol: int, expandable: bool, kept: int) -> None:
    program = Program(AllocatorSettings(expandable_segments=expandable), total_bytes=(160 << 20) * (seed % 2) or None)
    program.run(seed, steps=40)
    data = program.pickled(kept, protocol=protocol)

    assert natively(data) == in_python(data)


@pytest.mark.parametrize("seed", [3, 7])
def test_annotations_labels_and_many_stacks_are_read_alike(seed: int) -> None:
    data = trained(seed)

    assert natively(data) == in_python(data)
    assert natively(data) is not None


def test_a_file_of_many_windows_is_read_alike() -> None:
    training = Training()
    for _ in range(60):
        training.step()
    told = training.program.snapshot()
    told["padding"] = [str(number) * 100 for number in range(20_000)]  # no window of a mebibyte holds it
    told["device_traces"].append([dict(event) for event in told["device_traces"][0] * 2])
    data = pickle.dumps(told)

    assert len(data) > 8 << 20
    assert natively(data) == in_python(data)


STRANGE = [
    pickle.dumps([]),
    pickle.dumps({"segments": (), "device_traces": [[], ()], "external_annotations": None}),
    pickle.dumps(
        {"segments": [], "device_traces": [[{"action": "new", "addr": 1}, {"action": "oom", "device_free": 2}]]}
    ),
    pickle.dumps({"segments": [], "device_traces": [[{"action": "alloc", "addr": 2**63 + 5}]]}),
    pickle.dumps({"segments": [], "allocator_settings": {"a": [1], "b": (1, 2), "roundup_power2_divisions": {"1": 2}}}),
    pickle.dumps({"segments": [], "device_traces": [[{"action": "alloc", "addr": True, "size": 1.5}]]}),
    pickle.dumps({"segments": [], "device_traces": {"0": []}}),
    pickle.dumps({"segments": [], "more": [None] * 70_000}),
    pickle.dumps({str(number): number for number in range(3_000)} | {"segments": []}),
    b"\x80\x04}(X\x08\x00\x00\x00segmentsK\x01X\x08\x00\x00\x00segments]u.",
    b"\x80\x04}(X\x08\x00\x00\x00segments]q\x00h\x00u.",
    b"\x80\x04](((K\x01K\x02t.",
    b"\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00]. and a frame that does not end",
]


@pytest.mark.parametrize("data", STRANGE)
def test_a_strange_file_is_read_alike_or_left_to_the_reader_in_python(data: bytes) -> None:
    same_or_left(data)


@pytest.mark.parametrize("change", [with_bytes_changed, with_values_changed])
def test_mangled_files_are_read_alike_or_left_to_the_reader_in_python(change: Any) -> None:
    programs = [trained(3)]
    for seed in range(3):
        program = Program(AllocatorSettings(expandable_segments=seed == 1))
        program.run(seed, steps=12)
        programs.append(program.pickled(8, protocol=2 + seed))
    chance = random.Random(1)

    read = [same_or_left(change(chance.choice(programs), chance)) for _ in range(600)]

    assert sum(read) > 5


def same_or_left(data: bytes) -> bool:
    """Whether the native reader has read it; what it reads has to be what the reader in Python reads."""
    found = natively(data)
    if found is not None:
        assert found == in_python(data)
    return found is not None


@pytest.mark.parametrize(
    "damaged", [b"", b"\x80\x04", b"\x80\x04]", b"\x80\x04]K", b"\x80\x04](K\x01e", b"\x80\x04X\xff\xff"]
)
def test_a_file_that_is_cut_off_is_left_to_the_reader_in_python(damaged: bytes) -> None:
    assert read_columns(io.BytesIO(damaged).read) is None


def test_without_the_native_reader_a_file_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(trained(3))
    expected = whole(read_snapshot(file))
    monkeypatch.setattr(snapshot_columns, "_native", None)

    assert whole(read_snapshot(file)) == expected


def test_an_error_of_reading_is_told(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot read"):
        read_snapshot(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published snapshots are not here")
def test_published_snapshots_are_read_alike_and_natively() -> None:
    files = sorted(PUBLISHED.glob("*.pickle"))

    assert files
    for file in files:
        data = file.read_bytes()
        found = natively(data)
        assert found is not None, file.name
        assert found == in_python(data), file.name
