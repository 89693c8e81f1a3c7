"""The course of a trace: what was in use, asked for and reserved, stretch by stretch, as the replay has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.recorded import Program
from allocator.test_simulator import settings
from allocator.training import Training
from tenure.allocator import native
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB, AllocatorSettings
from tenure.allocator.story import story_of
from tenure.allocator.timeline import MOST_STRETCHES, Timeline, timeline_of
from tenure.model.allocator import Snapshot
from tenure.report.timeline import timeline_as_dict, timeline_rows
from tenure.store.torch_snapshot import snapshot_from_bytes


def told_of(snapshot: Snapshot) -> Timeline | None:
    return timeline_of(snapshot, 0, story_of(snapshot, replay_snapshot(snapshot, 0)).lives)


def test_each_event_of_a_short_trace_is_a_stretch() -> None:
    program = Program()
    block = program.allocate(3 * MIB - 1)
    assert block is not None
    program.free(block)

    timeline = told_of(snapshot_from_bytes(program.pickled(), "made"))

    assert timeline is not None
    assert timeline_as_dict(timeline) == {
        "event": [0, 1, 2, 3],
        "time_us": timeline.time_us.tolist(),
        "active_bytes": [0, 3 * MIB, 3 * MIB, 0],
        "requested_bytes": [0, 3 * MIB - 1, 3 * MIB - 1, 0],
        "reserved_bytes": [0, *[20 * MIB] * 3],  # a segment counts when it is taken
    }


@given(settings=settings, seed=st.integers(0, 5_000), share=st.floats(0, 1))
def test_peaks_are_those_of_the_replay_and_both_simulators_agree(
    settings: AllocatorSettings, seed: int, share: float
) -> None:
    program = Program(settings)
    program.run(seed)
    snapshot = snapshot_from_bytes(program.pickled(int(len(program.events) * share)), "made")
    replay = replay_snapshot(snapshot, 0)

    timeline = told_of(snapshot)

    if timeline is None:
        assert not (replay.is_whole and replay.num_events)
        return
    assert len(timeline.event) <= MOST_STRETCHES
    for levels, peak in ((timeline.active_bytes, replay.active), (timeline.reserved_bytes, replay.reserved)):
        assert peak.bytes == int(levels.max()) or peak.event < 0
    assert (timeline.requested_bytes <= timeline.active_bytes).all()
    assert (timeline.active_bytes <= timeline.reserved_bytes).all()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "_native", None)
        again = told_of(snapshot)
    assert again is not None
    assert timeline_as_dict(again) == timeline_as_dict(timeline)


def test_a_long_trace_is_a_row_of_bars() -> None:
    training = Training()
    for _ in range(10):
        training.step()
    snapshot = training.read()
    timeline = told_of(snapshot)
    assert timeline is not None

    rows = dict(timeline_rows(timeline, replay_snapshot(snapshot, 0), ascii_only=True))

    assert list(rows) == ["in use", "reserved"]
    assert [len(text) for text in rows.values()] == [60, 60]
    assert rows["reserved"].endswith("%" * 40)
    assert set(rows["in use"]) <= set(".:-=+*#%")
    few = dict(timeline_rows(timeline, replay_snapshot(training.read(20), 0), ascii_only=True))
    assert few == {}


def test_bars_are_shares_of_the_most_that_was_reserved() -> None:
    levels = np.array([0, 40, 79, 80], dtype=np.int64)
    snapshot = Training().read()
    replay = replay_snapshot(snapshot, 0)
    long = type(replay)(**{**vars(replay), "num_events": 1_000})

    rows = dict(timeline_rows(Timeline(levels, levels, levels, levels, levels), long, ascii_only=False))

    assert rows == {"in use": "▁▅██", "reserved": "▁▅██"}
