from __future__ import annotations

from pathlib import Path

import pytest

from exporting.runs import GIB, KIB, WrittenRun
from tenure.errors import NewerFormatError
from tenure.store import row_blocks, row_log
from tenure.store.latest_rows import LatestRows


@pytest.fixture(autouse=True)
def _blocks_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "BLOCK_ROWS", 4)


def last_counters(step: int) -> dict[str, int]:
    """What `WrittenRun` has said last up to `step`."""
    found = {"rss_bytes": step * KIB, "device_index": 0, "device_total_bytes": 8 * GIB, "num_ooms": 0}
    return found if step < 2 else {**found, "allocated_bytes": GIB + step - step % 2}


@pytest.mark.parametrize("steps", range(1, 14))
def test_the_newest_value_of_each_counter_is_known_however_far_back(tmp_path: Path, steps: int) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(steps)

    rows = LatestRows(run.folder)
    rows.look()

    assert (rows.steps.step, rows.steps.time, rows.steps.counters) == (steps, steps / 4, last_counters(steps))


@pytest.mark.parametrize("each", [1, 2, 3, 4, 5, 9])
def test_looking_again_and_again_tells_the_same_as_looking_once(tmp_path: Path, each: int) -> None:
    run = WrittenRun(tmp_path / "run")
    rows = LatestRows(run.folder)
    for _ in range(6):
        run.add_steps(each)
        rows.look()
        assert (rows.steps.step, rows.steps.counters) == (run.step, last_counters(run.step))


def test_a_block_is_read_once_and_a_line_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(9)
    rows = LatestRows(run.folder)
    rows.look()
    asked: list[object] = []
    monkeypatch.setattr(row_blocks, "last_values", lambda files: asked.append(files) or {})
    monkeypatch.setattr(rows.steps, "_take_line", asked.append)

    rows.look()

    assert asked == []


def test_a_torn_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(1)
    tail = run.folder / "steps.jsonl"
    line = '{"step":2,"time":0.5,"seconds":0.25,"counters":{"rss_bytes":5}}\n'
    rows = LatestRows(run.folder)
    told = []
    for part in ("", line[:20], line[20:], "no row\n", '{"step":3,"time":0.75,"seconds":0.25}\n'):
        with tail.open("a") as file:
            file.write(part)
        rows.look()
        told.append((rows.steps.step, rows.steps.counters["rss_bytes"]))

    assert told == [(1, KIB), (1, KIB), (2, 5), (2, 5), (3, 5)]


def test_a_damaged_block_is_passed_over(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(9)
    (run.folder / "steps-000001.npz").write_bytes(b"PK")

    rows = LatestRows(run.folder)
    rows.look()

    assert (rows.steps.step, rows.steps.counters) == (9, {"rss_bytes": 9 * KIB, "allocated_bytes": GIB + 8})


def test_a_newer_recording_is_refused(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run").add(kind="header", format=99)

    with pytest.raises(NewerFormatError, match="format 99; this Tenure reads up to"):
        LatestRows(run.folder).look()
