"""A recording that grows, read again and again: the same as opened anew, and only what is new is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tenure.errors import RecordingError
from tenure.model.recording import Recording
from tenure.store import row_log
from tenure.store.following import FollowedRecording
from tenure.store.last_words import leave_last_words
from tenure.store.recording_file import RecordingWriter, open_recording

BLOCK = 16


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "BLOCK_ROWS", BLOCK)


class Program:
    """Writes a recording step by step."""

    def __init__(self, folder: Path) -> None:
        self.writer = RecordingWriter(folder, process={"pid": 1})
        self.step = 0

    def make(self, steps: int) -> None:
        for _ in range(steps):
            self.step += 1
            row = {"step": self.step, "time": self.step / 8, "seconds": 0.125, "counters": {"rss_bytes": self.step}}
            self.writer.add_row("steps", json.dumps(row))
        self.writer.flush()


def plain(recording: Recording) -> Recording:
    return replace(recording, steps=tuple(recording.steps), samples=tuple(recording.samples))


@pytest.mark.parametrize("steps", [[1, 2, 3], [BLOCK - 1, 1, 1], [10, 10, 10, 10], [BLOCK, 3 * BLOCK + 5, 2], [100, 0]])
def test_each_reading_is_what_opening_would_give(tmp_path: Path, steps: Sequence[int]) -> None:
    program, followed = Program(tmp_path), FollowedRecording(tmp_path)
    for number in steps:
        program.make(number)
        program.writer.append({"kind": "note", "level": "info", "text": f"{number}", "step": program.step}, flush=True)
        assert plain(followed.read()) == plain(open_recording(tmp_path))
    program.writer.append({"kind": "end", "reason": "exit"}, flush=True)
    assert plain(followed.read()) == plain(open_recording(tmp_path))


def test_a_tail_that_was_emptied_and_filled_beyond_its_old_length_is_read_from_its_start(tmp_path: Path) -> None:
    program, followed = Program(tmp_path), FollowedRecording(tmp_path)
    program.make(3)
    followed.read()
    program.make(2 * BLOCK + 9)

    assert [step.step for step in followed.read().steps] == list(range(1, program.step + 1))


def test_a_block_that_is_written_before_its_tail_is_emptied_gives_no_row_twice(tmp_path: Path) -> None:
    program, followed = Program(tmp_path), FollowedRecording(tmp_path)
    program.make(BLOCK - 1)
    before = (tmp_path / "steps.jsonl").read_bytes()
    followed.read()
    program.make(1)
    emptied = (tmp_path / "steps.jsonl").read_bytes()
    (tmp_path / "steps.jsonl").write_bytes(before)
    between = [step.step for step in followed.read().steps]
    (tmp_path / "steps.jsonl").write_bytes(emptied)
    program.make(BLOCK - 1)

    assert (between, emptied) == (list(range(1, BLOCK + 1)), b"")
    assert [step.step for step in followed.read().steps] == list(range(1, 2 * BLOCK))


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, followed = Program(tmp_path), FollowedRecording(tmp_path)
    program.make(3 * BLOCK + 4)
    followed.read().steps[0]
    looked: list[str] = []
    from tenure.store import row_blocks

    look_into, of_block = row_blocks._look_into, row_blocks._of_block
    monkeypatch.setattr(row_blocks, "_look_into", lambda file: looked.append(file.name) or look_into(file))
    monkeypatch.setattr(
        row_blocks, "_of_block", lambda block, name: looked.append(f"{block.path.name} {name}") or of_block(block, name)
    )
    program.make(BLOCK)
    last = followed.read().steps[-1]

    assert last.counters == {"rss_bytes": 4 * BLOCK + 4}
    assert set(looked) == {
        f"steps-000004.npz{column}" for column in ("", " step", " time", " seconds", " counters.rss_bytes")
    }


def test_a_line_that_is_not_ended_waits_for_its_end(tmp_path: Path) -> None:
    program, followed = Program(tmp_path), FollowedRecording(tmp_path)
    program.make(2)
    with (tmp_path / "steps.jsonl").open("ab") as file:
        file.write(b'{"step":3,"time":0.4,')
        file.flush()
        first = followed.read()
        file.write(b'"seconds":0.1}\n')
    second = followed.read()

    assert [len(first.steps), len(second.steps), second.notes] == [2, 3, ()]


def test_a_recording_that_has_only_begun_is_a_recording_error(tmp_path: Path) -> None:
    followed = FollowedRecording(tmp_path)
    for make in (lambda: None, lambda: (tmp_path / "process.json").touch()):
        make()
        with pytest.raises(RecordingError):
            followed.read()
    Program(tmp_path).make(1)
    assert len(followed.read().steps) == 1


@pytest.mark.parametrize(
    ("noted", "texts"),
    [
        ("", ["recording stopped after step 2, the program went on: cannot write the recording run: No space left"]),
        ("cannot write the recording: No space left", ["cannot write the recording: No space left"]),
        (
            "ValueError: theirs",
            [
                "ValueError: theirs",
                "recording stopped after step 2, the program went on: cannot write the recording run: No space left",
            ],
        ),
    ],
)
def test_a_full_disk_is_told_once_however_the_recording_is_read(tmp_path: Path, noted: str, texts: list[str]) -> None:
    program, followed = Program(tmp_path), FollowedRecording(tmp_path)
    program.make(2)
    followed.read()
    if noted:
        program.writer.append({"kind": "note", "level": "failure", "text": noted, "step": 2}, flush=True)
    leave_last_words(tmp_path, "cannot write the recording run: No space left")
    found = followed.read()

    assert [note.text for note in found.notes] == texts
    assert found.how_it_ended == "disk"
    assert (open_recording(tmp_path).notes, open_recording(tmp_path).end) == (found.notes, found.end)
