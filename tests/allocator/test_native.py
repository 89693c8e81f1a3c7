"""The native simulator comes to what the simulator in Python comes to, or leaves it to it."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from allocator.recorded import Program
from allocator.test_simulator import settings
from store.test_snapshot_fuzz import small_snapshot, with_bytes_changed, with_values_changed
from tenure.allocator import native
from tenure.allocator.advisor import CANDIDATES
from tenure.allocator.moment import rooms_after
from tenure.allocator.native import native_play, native_replay
from tenure.allocator.played import played_in_python
from tenure.allocator.replay import replay_in_python, replay_snapshot
from tenure.allocator.requests import Kind, Requests
from tenure.allocator.settings import MIB, AllocatorSettings, parse_settings
from tenure.allocator.story import story_of
from tenure.allocator.what_if import asked_first, course_of, in_own_pool, outcome_of, without
from tenure.errors import SnapshotError
from tenure.model.allocator import Snapshot
from tenure.store.torch_snapshot import read_snapshot, snapshot_from_bytes

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "snapshots"
pytestmark = pytest.mark.skipif(native._native is None, reason="the native simulator is not built")


TWO_THAT_TOUCH = AllocatorSettings(expandable_segments=True, memory_fraction=0.4, large_segment_bytes=20 * MIB)
"""With these an expandable segment is filled up to where the next one begins (seed 365)."""


def native_replay_of(snapshot: Snapshot, device: int) -> Any:
    known = replay_in_python(snapshot, device)
    events = snapshot.traces[device]
    return native_replay(snapshot, device, known.earlier, known.settings, events)


@given(settings=settings, seed=st.integers(0, 10_000), share=st.floats(0, 1), total=st.sampled_from([None, 200 * MIB]))
@example(settings=TWO_THAT_TOUCH, seed=365, share=0.5, total=200 * MIB)
def test_a_trace_is_replayed_alike(settings: AllocatorSettings, seed: int, share: float, total: int | None) -> None:
    program = Program(settings, total)
    program.run(seed)
    snapshot = snapshot_from_bytes(program.pickled(int(len(program.events) * share)), "made")

    known = replay_in_python(snapshot, 0)

    assert (native_replay_of(snapshot, 0) is not None) == (known.first_difference is None)
    assert replay_snapshot(snapshot, 0) == known


@given(
    seed=st.integers(0, 10_000),
    settings=settings,
    total=st.sampled_from([None, 60 * MIB, 300 * MIB]),
    error=st.sampled_from([None, 1, 3]),
    num_streams=st.integers(1, 4),
)
def test_requests_come_to_the_same(
    seed: int, settings: AllocatorSettings, total: int | None, error: int | None, num_streams: int
) -> None:
    requests = random_requests(seed, num_streams)

    found = native_play(requests, settings, None, total_bytes=total, limit_bytes=total, error=error)

    assert found == played_in_python(requests, settings, total_bytes=total, limit_bytes=total, error=error)


def random_requests(seed: int, num_streams: int, num_rows: int = 400) -> Requests:
    """Sizes of all kinds on a few streams and in two private pools, freed in any order."""
    chance = random.Random(seed)
    rows: list[tuple[int, int, int, int, int]] = []
    held: list[int] = []
    for number in range(num_rows):
        kind = chance.choices(list(Kind), (50, 40, 1, 3, 1, 1, 1))[0]
        size = chance.choice(
            (1, 511, 512, 513, 70_000, MIB - 1, MIB, MIB + 1, 3 * MIB, 10 * MIB, 33 * MIB + 7, 65 * MIB)
        )
        if kind is Kind.FREE:
            if held:
                rows.append((kind, held.pop(chance.randrange(len(held))), 0, 0, 0))
            continue
        rows.append((kind, number, size, chance.randrange(num_streams), chance.choice((0, 0, 0, 1, 2))))
        held += [number] if kind is Kind.ALLOCATE else []
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), 5).T
    return Requests(*columns, pools=((0, 0), (1, 0), (0, 7)), num_earlier=0)  # type: ignore[misc]


@given(
    seed=st.integers(0, 5_000),
    expandable=st.booleans(),
    share=st.floats(0, 1),
    total=st.sampled_from([None, 160 * MIB]),
)
@example(seed=3201, expandable=True, share=0.875, total=None)  # a segment grew to where a newer one lay
def test_what_would_have_been_is_played_alike(seed: int, expandable: bool, share: float, total: int | None) -> None:
    program = Program(AllocatorSettings(expandable_segments=expandable), total)
    program.run(seed)
    snapshot = snapshot_from_bytes(program.pickled(int(len(program.events) * share)), "made")
    course = course_of(snapshot, 0)
    some = set(range(0, len(course.requests.number), 3))
    courses = [course, without(course, some), asked_first(course, some), in_own_pool(course, some)]

    found = [outcome_of(each, total_bytes=total) for each in courses]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "_native", None)
        assert found == [outcome_of(each, total_bytes=total) for each in courses]


@given(settings=settings, seed=st.integers(0, 5_000), share=st.floats(0, 1))
def test_the_segments_at_a_moment_are_told_alike(settings: AllocatorSettings, seed: int, share: float) -> None:
    program = Program(settings)
    program.run(seed)
    snapshot = snapshot_from_bytes(program.pickled(), "made")
    story = story_of(snapshot, replay_snapshot(snapshot, 0))
    event = int((len(program.events) - 1) * share)

    found = rooms_after(snapshot, 0, story, event)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "_native", None)
        assert found == rooms_after(snapshot, 0, story, event)


@pytest.mark.parametrize("change", [with_bytes_changed, with_values_changed])
def test_mangled_traces_are_replayed_alike(change: Any) -> None:
    chance = random.Random(3)
    samples = [small_snapshot(seed) for seed in range(9)]
    num_natively = 0
    for _ in range(500):
        try:
            snapshot = snapshot_from_bytes(change(chance.choice(samples), chance), "file")
            replays = [(replay_in_python(snapshot, device), device) for device in snapshot.devices]
        except SnapshotError:
            continue
        for known, device in replays:
            assert replay_snapshot(snapshot, device) == known
            events = snapshot.traces.get(device)
            if events is not None:
                found = native_replay(snapshot, device, known.earlier, known.settings, events)
                num_natively += found is not None
                assert found is None or known.first_difference is None
    assert num_natively > 5


@pytest.mark.parametrize(
    "changed",
    [
        {"large_segment_bytes": 1 << 62},
        {"roundup_power2_divisions": (1 << 60,) * 16},
        {"max_split_bytes": 1 << 70},
    ],
)
def test_settings_that_do_not_fit_into_64_bits_are_left_to_python(changed: dict[str, Any]) -> None:
    strange = dataclasses.replace(AllocatorSettings(), **changed)
    requests = random_requests(1, 1)

    assert native_play(requests, strange, None, total_bytes=None, limit_bytes=None, error=None) is None


def test_hundreds_of_streams_are_left_to_python() -> None:
    many = random_requests(5, 1_000, num_rows=3_000)

    assert native_play(many, AllocatorSettings(), None, total_bytes=None, limit_bytes=None, error=None) is None


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published snapshots are not here")
def test_published_traces_come_to_the_same() -> None:
    for path in sorted(PUBLISHED.glob("*.pickle")):
        snapshot = read_snapshot(path)
        for device in snapshot.devices:
            assert replay_snapshot(snapshot, device) == replay_in_python(snapshot, device), path.name
            course = course_of(snapshot, device)
            for text in CANDIDATES[::4]:
                told = native_play(
                    course.requests, parse_settings(text), None, total_bytes=None, limit_bytes=None, error=None
                )
                assert told == played_in_python(course.requests, parse_settings(text)), (path.name, text)
