from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest

from live.test_dashboard import Program
from tenure.cli import watch
from tenure.cli.main import run_command_line
from tenure.store.recording_file import RecordingWriter

KIB, GIB = 1 << 10, 1 << 30


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")


def record(folder: Path, *, steps: int = 400, end: bool = True, rank: int | None = None) -> Path:
    """A run on a device of 8 GiB, of which 3 are free, that keeps 64 KiB in each step."""
    folder.mkdir(parents=True)
    writer = RecordingWriter(folder, process={"rank": rank})
    for step in range(1, steps + 1):
        counters = {
            "allocated_bytes": GIB + 64 * KIB * step,
            "allocated_peak_bytes": 2 * GIB + 64 * KIB * step,
            "active_bytes": GIB + 64 * KIB * step,
            "reserved_bytes": 4 * GIB,
            "inactive_split_bytes": GIB,
        }
        if step == 1:
            counters |= {"device_index": 0, "device_total_bytes": 8 * GIB, "device_free_bytes": 3 * GIB}
        row = {"step": step, "time": step / 4, "seconds": 0.25, "counters": counters}
        writer.add_row("steps", json.dumps(row))
    sample = {"step": steps, "time": steps / 4, "seconds": 0.001, "counters": {"device_process_bytes": 5 * GIB}}
    writer.add_row("samples", json.dumps(sample))
    if end:
        writer.append({"kind": "end", "reason": "exit", "exit_code": 0, "steps": steps})
    writer.close()
    return folder


def test_growth_and_its_end_are_told_in_steps_and_hours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["watch", str(record(tmp_path / "run"))]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "run           step 400 · 100 s · 4.0 steps per second · ended: exit"
    assert "grows by 64.00 KiB (± 0 B) per" in lines[1]
    # 7 GiB are there for the allocator, 2 GiB and 25 MiB are the peak: 81,520 steps of 64 KiB, 5.7 hours.
    assert lines[3].strip().startswith("out of memory (device) in about 82,000 steps, 90 % between 79,000 and")
    assert any(line.startswith("beside it     1.00 GiB of this process") for line in lines)


def test_json_is_one_object_with_every_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "run", rank=0)
    record(tmp_path / "run" / "rank-00001", rank=1)

    assert run_command_line(["watch", str(tmp_path / "run"), "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["format"] == 1
    assert [(each["rank"], each["steps"], each["end"]) for each in told["processes"]] == [
        (0, 400, "exit"),
        (1, 400, "exit"),
    ]
    (ahead,) = [each["ahead"] for each in told["processes"][0]["counters"] if each["ahead"]]
    assert ahead["room_bytes"] == 5 * GIB - 400 * 64 * KIB
    assert ahead["steps"] == pytest.approx(ahead["room_bytes"] / (64 * KIB), rel=1e-6)
    assert ahead["soonest"] < ahead["steps"] < ahead["latest"]


def test_a_run_that_goes_on_is_looked_at_again_until_it_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = record(tmp_path / "run", steps=20, end=False)
    waited: list[float] = []

    def end_meanwhile(seconds: float) -> None:
        waited.append(seconds)
        with (folder / "rows-000001.jsonl").open("a") as file:
            file.write('{"kind":"end","reason":"exception","exit_code":1}\n')

    monkeypatch.setattr(watch.time, "sleep", end_meanwhile)

    assert run_command_line(["watch", str(folder), "--every", "2"]) == 0

    states = [line for line in capsys.readouterr().out.splitlines() if line.startswith("run ")]
    assert [line.rpartition(" · ")[2] for line in states] == ["no end was recorded", "ended: exception"]
    assert waited == [2.0]


def test_a_folder_without_a_recording_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["watch", str(tmp_path)]) == 2
    assert run_command_line(["watch", str(tmp_path / "nowhere")]) == 2

    first, second = capsys.readouterr().err.splitlines()
    assert first == f"tenure: {tmp_path} holds no recording yet; a program records from its first step on"
    assert "no such folder" in second


def test_a_recording_without_steps_has_its_line_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RecordingWriter(tmp_path, process={}).close()

    assert run_command_line(["watch", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "run           step 0 · less than a second · no end was recorded\n"


def test_a_census_is_asked_for_by_a_file_that_the_recorder_takes_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path / "run", steps=20, end=False)

    assert run_command_line(["watch", str(folder), "--census"]) == 0

    assert (folder / ".census-wanted").exists()
    assert capsys.readouterr().err == "tenure: asked 1 process for a census; it comes with the next step\n"


def test_a_run_that_is_over_takes_no_census(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(tmp_path / "run", steps=20)

    assert run_command_line(["watch", str(folder), "--census"]) == 2

    assert capsys.readouterr().err == f"tenure: {folder}: its run is over, so no census can be taken any more\n"
    assert not (folder / ".census-wanted").exists()


def test_a_program_that_was_killed_is_over_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = record(tmp_path / "run", steps=20, end=False)
    process = json.loads((folder / "process.json").read_text())
    gone = process | {"pid": 2**22 + 1, "node": platform.node(), "time": 1.0}
    (folder / "process.json").write_text(json.dumps(gone))
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: pytest.fail("waited for a program that is gone"))

    assert run_command_line(["watch", str(folder), "--every", "2"]) == 0
    assert run_command_line(["watch", str(folder), "--census"]) == 2
    assert capsys.readouterr().err == f"tenure: {folder}: its run is over, so no census can be taken any more\n"


def test_a_terminal_gets_the_dashboard_and_options_keep_the_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, shown = record(tmp_path / "run"), []
    monkeypatch.setattr(watch, "_is_for_a_screen", lambda: True)
    monkeypatch.setattr("tenure.live.dashboard.watch_on_screen", shown.append)

    for options in ([], ["--once"], ["--json"], ["--every", "1"]):
        assert run_command_line(["watch", str(folder), *options]) == 0

    assert shown == [str(folder)]
    assert [line[:13] for line in capsys.readouterr().out.splitlines() if line.startswith(("run ", "{"))] == [
        "run          ",
        '{"format": 1,',
        "run          ",
    ]


def test_without_textual_the_line_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = record(tmp_path / "run")
    monkeypatch.setattr(watch, "_is_for_a_screen", lambda: True)
    monkeypatch.delitem(sys.modules, "tenure.live.dashboard", raising=False)
    monkeypatch.setitem(sys.modules, "textual", None)

    assert run_command_line(["watch", str(folder)]) == 2

    assert capsys.readouterr().err == (
        f"tenure: the dashboard needs the package textual; pip install textual, or see `tenure watch --once {folder}`\n"
    )


class Terminal:
    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("term", "encoding", "drawn"),
    [("xterm-256color", "utf-8", True), ("dumb", "utf-8", False), ("xterm", "ascii", False)],
)
def test_a_terminal_that_cannot_be_drawn_on_gets_text(
    monkeypatch: pytest.MonkeyPatch, term: str, encoding: str, drawn: bool
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal(encoding))
    monkeypatch.setenv("TERM", term)

    assert watch._is_for_a_screen() is drawn


def test_findings_so_far_stand_below_each_process_and_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Program(tmp_path / "run")
    for _ in range(6):
        program.train(100)
        program.take_census()

    for options in ([], ["--json"], ["--no-findings"], ["--json", "--no-findings"]):
        assert run_command_line(["watch", str(program.folder), *options]) == 0
    rest = capsys.readouterr().out.partition("findings      1 · from 6 censuses\n")[2]
    told = [json.loads(line) for line in rest.splitlines() if line.startswith("{")]
    assert rest.startswith("              TN202 tensors-collected · likely · ")
    assert [each["processes"][0]["findings"] for each in told][1:] == [None]
    assert [each["rule"] for each in told[0]["processes"][0]["findings"]] == ["TN202"]
    assert "findings  " not in rest
