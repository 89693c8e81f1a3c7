"""Rows of long runs: a tail of lines, blocks of columns behind it, and nothing lost or told twice."""

from __future__ import annotations

import errno
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tenure.model import row_columns
from tenure.model.recording import Note, Step
from tenure.store import row_log
from tenure.store.recording_file import RecordingWriter, open_recording
from tenure.store.row_log import RowLog
from tenure.store.row_reading import read_rows


@pytest.fixture(autouse=True)
def blocks_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "BLOCK_ROWS", 4)
    monkeypatch.setattr(row_columns, "AT_ONCE", 3)


def step(number: int) -> Step:
    """Odd steps have a counter that even ones lack, and another comes with the sixth."""
    counters = {"rss_bytes": number << 20} if number % 2 else {}
    return Step(number, number / 10, 0.1, counters | ({"late": -number} if number >= 6 else {}))


def line(row: Step) -> str:
    return json.dumps({"step": row.step, "time": row.time, "seconds": row.seconds, "counters": row.counters})


def write(folder: Path, first: int, last: int) -> RowLog:
    log = RowLog(folder, "steps")
    for number in range(first, last + 1):
        log.add(line(step(number)))
        log.flush()
    return log


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("last", range(14))
def test_rows_come_back_as_they_were_however_many_blocks_they_fill(tmp_path: Path, last: int) -> None:
    write(tmp_path, 1, last)

    read = read_rows(tmp_path, "steps", Step)

    assert (list(read.rows), read.damaged, read.notes) == ([step(n) for n in range(1, last + 1)], 0, ())
    assert names(tmp_path) == [f"steps-{n:06d}.npz" for n in range(1, last // 4 + 1)] + ["steps.jsonl"] * (last > 0)


def test_several_blocks_may_come_with_one_flush(tmp_path: Path) -> None:
    log = RowLog(tmp_path, "steps")
    for number in range(1, 11):
        log.add(line(step(number)))
    log.flush()

    assert list(read_rows(tmp_path, "steps", Step).rows) == [step(n) for n in range(1, 11)]


def test_no_row_stays_in_memory_once_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "BLOCK_ROWS", 4096)
    log = RowLog(tmp_path, "steps")
    tracemalloc.start()
    try:
        for number in range(1, 2001):
            log.add(line(step(number)))
            log.flush()
            if number == 1000:
                before = tracemalloc.get_traced_memory()[0]
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert grown < 16 << 10


def test_a_block_opens_with_numpy_alone(tmp_path: Path) -> None:
    write(tmp_path, 1, 4)

    with np.load(tmp_path / "steps-000001.npz") as columns:
        assert {name: columns[name].tolist() for name in columns.files} == {
            "step": [1, 2, 3, 4],
            "time": [100000, 200000, 300000, 400000],
            "seconds": [100000] * 4,
            "counters.rss_bytes": [1 << 20, -(1 << 63), 3 << 20, -(1 << 63)],
        }


def test_a_crash_between_a_block_and_the_tails_new_beginning_tells_no_row_twice(tmp_path: Path) -> None:
    write(tmp_path, 1, 3)
    tail = (tmp_path / "steps.jsonl").read_bytes()
    (tmp_path / "steps.jsonl").unlink()
    write(tmp_path, 1, 5)
    (tmp_path / "steps.jsonl").write_bytes(tail + (tmp_path / "steps.jsonl").read_bytes())

    assert list(read_rows(tmp_path, "steps", Step).rows) == [step(n) for n in range(1, 6)]


def test_a_tail_cut_at_any_byte_gives_its_whole_rows(tmp_path: Path) -> None:
    write(tmp_path, 1, 7)
    tail = (tmp_path / "steps.jsonl").read_bytes()
    for cut in range(len(tail)):
        (tmp_path / "steps.jsonl").write_bytes(tail[:cut])
        read = read_rows(tmp_path, "steps", Step)
        whole = len([one for one in tail[:cut].split(b"\n") if one.endswith(b"}}")])
        assert list(read.rows) == [step(n) for n in range(1, 5 + whole)]
        assert read.damaged == bool(tail[:cut].split(b"\n")[-1]) - (tail[cut : cut + 1] == b"\n")


def test_a_damaged_block_is_left_out_with_a_note(tmp_path: Path) -> None:
    write(tmp_path, 1, 9)
    (tmp_path / "steps-000001.npz").write_bytes(b"PK")

    read = read_rows(tmp_path, "steps", Step)

    assert list(read.rows) == [step(n) for n in range(5, 10)]
    (note,) = read.notes
    assert note.text.startswith("steps-000001.npz is damaged (")
    assert note.text.endswith("); its rows were left out")


def test_rows_by_column_are_a_sequence_like_any_other(tmp_path: Path) -> None:
    write(tmp_path, 1, 9)
    rows = read_rows(tmp_path, "steps", Step).rows
    whole = [step(n) for n in range(1, 10)]

    assert (rows[-1], list(rows[3:]), list(rows[::-2]), list(reversed(rows))) == (
        whole[-1],
        whole[3:],
        whole[::-2],
        whole[::-1],
    )
    with pytest.raises(IndexError, match="row 9 of 9"):
        rows[9]


def test_the_end_and_the_mean_are_told_without_making_rows(tmp_path: Path) -> None:
    write(tmp_path, 1, 9)
    rows = read_rows(tmp_path, "steps", Step).rows

    assert (rows.last(), rows[:0].last()) == ((9, 0.9), (0, 0.0))  # type: ignore[attr-defined]
    assert rows.mean_seconds() == pytest.approx(0.1)  # type: ignore[attr-defined]


def test_a_counter_is_asked_for_without_making_rows(tmp_path: Path) -> None:
    write(tmp_path, 1, 9)
    rows = read_rows(tmp_path, "steps", Step).rows

    told = {name: [column.tolist() for column in rows.counter(name)] for name in ("late", "nowhere")}  # type: ignore[attr-defined]

    assert told == {"late": [[6, 7, 8, 9], [-6, -7, -8, -9]], "nowhere": [[], []]}


def test_a_disk_that_does_not_answer_costs_rows_and_no_memory_without_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_log, "MOST_WAITING", 3)
    log = RowLog(tmp_path, "steps")
    for number in range(1, 6):
        log.add(line(step(number)))
    log.flush()

    assert log.num_lost == 2
    assert list(read_rows(tmp_path, "steps", Step).rows) == [step(n) for n in (1, 2, 3)]


def test_rows_that_come_as_they_are_read_back_like_those_that_come_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_log, "MOST_AS_THEY_ARE", 2)
    log = RowLog(tmp_path, "steps")
    for number in range(1, 5):
        each = step(number)
        log.add((each.step, each.time, each.seconds, each.counters))
    assert [type(row) for row in log._waiting] == [tuple, tuple, str, str]
    log.flush()

    assert list(read_rows(tmp_path, "steps", Step).rows) == [step(n) for n in (1, 2, 3, 4)]


def test_a_disk_that_is_full_when_a_block_ends_leaves_the_rows_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RecordingWriter(tmp_path, process={})
    for number in (1, 2, 3):
        writer.add_row("steps", line(step(number)))
    writer.flush()

    def refuse(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(row_log, "write_columns", refuse)
    writer.add_row("steps", line(step(4)))
    writer.flush()
    opened = open_recording(tmp_path)

    assert writer.failure == f"cannot write the recording {tmp_path}: No space left on device"
    assert list(opened.steps) == [step(n) for n in (1, 2, 3)]
    assert [note.text for note in opened.notes] == [
        f"recording stopped after step 3, the program went on: {writer.failure}"
    ]


def test_steps_of_format_1_stand_among_all_other_rows(tmp_path: Path) -> None:
    (tmp_path / "process.json").write_text("{}")
    rows = [
        '{"kind":"header","format":1}',
        line(step(1)).replace("{", '{"kind":"step",', 1),
        '{"kind":"step","step":2}',
    ]
    (tmp_path / "rows-000001.jsonl").write_text("\n".join(rows) + "\n")

    opened = open_recording(tmp_path)

    assert opened.steps == (step(1),)
    assert opened.notes == (
        Note("warning", "the last row was torn and left out; the program or the disk stopped while writing"),
    )
