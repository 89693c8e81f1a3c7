"""What stands at the ends of a recording's files is what opening it whole says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenure.errors import RecordingError
from tenure.store import glances, row_log
from tenure.store.glances import Glance, GlancedRecording
from tenure.store.last_words import leave_last_words
from tenure.store.recording_file import RecordingWriter, add_exit_code, open_recording

BLOCK = 16
NAMES = ("allocated_bytes", "rss_bytes")


@pytest.fixture(autouse=True)
def _small_blocks_and_short_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "BLOCK_ROWS", BLOCK)
    monkeypatch.setattr(glances, "LAST_BYTES", 600)


class Program:
    """Counts in each step, and what it has allocated in every second one."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.writer = RecordingWriter(folder, process={"pid": 1, "rank": 3})
        self.step = 0

    def make(self, steps: int) -> None:
        for self.step in range(self.step + 1, self.step + steps + 1):
            counters = {"rss_bytes": 100 + self.step, "other": 1}
            counters |= {} if self.step % 2 else {"allocated_bytes": self.step}
            row = {"step": self.step, "time": self.step / 8, "seconds": 0.125, "counters": counters}
            self.writer.add_row("steps", json.dumps(row, separators=(",", ":")))
        self.writer.flush()


def opened(folder: Path) -> Glance:
    """The same by way of the whole recording."""
    found = open_recording(folder)
    last = {name: row.counters[name] for row in found.steps for name in NAMES if name in row.counters}
    step = found.steps[-1] if len(found.steps) else None
    return Glance(
        found.path,
        found.process,
        step.step if step else 0,
        step.time if step else 0.0,
        last,
        found.how_it_ended,
        found.program_end,
    )


@pytest.mark.parametrize("each", [1, 5, BLOCK, BLOCK + 3])
def test_a_glance_says_after_each_look_what_the_whole_recording_says(tmp_path: Path, each: int) -> None:
    program, glanced = Program(tmp_path), GlancedRecording(tmp_path, NAMES)
    program.writer.flush()
    assert glanced.look() == opened(tmp_path)
    for _ in range(5):
        program.make(each)
        assert glanced.look() == opened(tmp_path)


@pytest.mark.parametrize("steps", [2, 2 * BLOCK, 2 * BLOCK + 1, 2 * BLOCK + 9])
def test_a_first_look_at_a_long_run_says_the_same(tmp_path: Path, steps: int) -> None:
    Program(tmp_path).make(steps)
    assert GlancedRecording(tmp_path, NAMES).look() == opened(tmp_path)


def test_an_end_by_itself_by_a_signal_and_by_a_full_disk_is_told(tmp_path: Path) -> None:
    ends = []
    for name in ("exit", "killed", "disk"):
        program = Program(tmp_path / name)
        program.make(3)
        if name == "exit":
            program.writer.append({"kind": "end", "reason": "exit", "exit_code": 0})
            program.writer.close()
        elif name == "killed":
            add_exit_code(tmp_path / name, -9, at=5.0)
        else:
            leave_last_words(tmp_path / name, "no space left")
        glance = GlancedRecording(tmp_path / name, NAMES).look()
        assert glance == opened(tmp_path / name)
        ends.append(glance.end)
    assert ends == ["exit", "signal 9", "disk"]


def test_only_the_end_of_a_tail_is_read_and_nothing_where_nothing_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, glanced, parsed = Program(tmp_path), GlancedRecording(tmp_path, NAMES), []
    program.make(BLOCK + 12)
    parse = glances.parse_rows
    monkeypatch.setattr(glances, "parse_rows", lambda lines: parsed.append(len(lines)) or parse(lines))
    glanced.look()
    glanced.look()
    assert len(parsed) == 1
    assert 0 < parsed[0] < 12


def test_a_torn_line_waits_and_a_folder_that_has_only_begun_is_a_recording_error(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        GlancedRecording(tmp_path, NAMES).look()
    program = Program(tmp_path)
    program.make(2)
    with (tmp_path / "steps.jsonl").open("ab") as file:
        file.write(b'{"step":3,"time":0.4,')
    assert GlancedRecording(tmp_path, NAMES).look().steps == 2
