from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from exporting.runs import GIB, KIB, WrittenRun
from tenure.cli.main import run_command_line
from tenure.exporting.csv_text import write_csv
from tenure.exporting.process_rows import read_run

HEADER = ["step", "time", "seconds", "rss_bytes", "device_index", "device_total_bytes", "num_ooms", "allocated_bytes"]


def rows_of(folder: Path, kind: str = "steps") -> list[list[str]]:
    stream = io.StringIO()
    count = write_csv(read_run(folder, kind), stream)
    header, *rows = csv.reader(io.StringIO(stream.getvalue()))
    assert count == len(rows)
    return [header, *rows]


def expected(step: int) -> list[str]:
    first = ["0", str(8 * GIB), "0"] if step == 1 else ["", "", ""]
    return [str(step), str(step / 4), "0.25", str(step * KIB), *first, "" if step % 2 else str(GIB + step)]


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 8, 11])
def test_each_step_is_a_line_and_what_was_not_measured_is_empty(tmp_path: Path, steps: int) -> None:
    WrittenRun(tmp_path / "run").add_steps(steps)

    assert rows_of(tmp_path / "run") == [
        HEADER[: 7 if steps == 1 else 8],
        *(expected(step)[: 7 if steps == 1 else 8] for step in range(1, steps + 1)),
    ]


def test_ranks_are_told_apart_and_share_their_columns(tmp_path: Path) -> None:
    WrittenRun(tmp_path / "run", rank=0).add_steps(5)
    WrittenRun(tmp_path / "run" / "rank-00001", rank=1).add_steps(2)

    header, *rows = rows_of(tmp_path / "run")

    assert header == ["process", "rank", *HEADER]
    assert rows == [
        *(["main", "0", *expected(step)] for step in range(1, 6)),
        *(["rank-00001", "1", *expected(step)] for step in range(1, 3)),
    ]


def test_processes_without_a_rank_are_told_apart_by_name(tmp_path: Path) -> None:
    WrittenRun(tmp_path / "run").add_steps(1)
    WrittenRun(tmp_path / "run" / "process-4711").add_steps(1)

    assert [row[:3] for row in rows_of(tmp_path / "run")] == [
        ["process", "rank", "step"],
        ["main", "", "1"],
        ["process-4711", "", "1"],
    ]


def test_samples_are_lines_of_their_own(tmp_path: Path) -> None:
    WrittenRun(tmp_path / "run").add_steps(3).add_sample(device_celsius=51)

    assert rows_of(tmp_path / "run", "samples") == [
        ["step", "time", "seconds", "device_celsius"],
        ["3", "0.85", "0.001", "51"],
    ]


def test_only_a_block_of_rows_is_in_memory_at_a_time(tmp_path: Path) -> None:
    WrittenRun(tmp_path / "run").add_steps(11)

    lengths = [len(table["step"]) for _, table in read_run(tmp_path / "run", "steps").tables()]

    assert lengths == [4, 4, 3]


def test_steps_of_format_1_are_exported_too(tmp_path: Path) -> None:
    (tmp_path / "process.json").write_text("{}")
    (tmp_path / "rows-000001.jsonl").write_text(
        '{"kind":"header","format":1}\n{"kind":"step","step":1,"time":0.5,"seconds":0.5,"counters":{"rss_bytes":7}}\n'
    )

    assert rows_of(tmp_path) == [["step", "time", "seconds", "rss_bytes"], ["1", "0.5", "0.5", "7"]]


def test_the_command_writes_a_file_or_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, file = WrittenRun(tmp_path / "run").add_steps(5), tmp_path / "run.csv"

    assert run_command_line(["export", str(run.folder), "--csv", str(file)]) == 0
    assert capsys.readouterr().err == f"tenure: {file}: 5 steps\n"
    assert run_command_line(["export", str(run.folder), "--csv", "-"]) == 0
    assert capsys.readouterr().out == file.read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "export needs one of --csv, --parquet, --blocks, --prometheus-textfile, --serve; given: none"),
        (
            ["--csv", "-", "--serve", "9"],
            "export needs one of --csv, --parquet, --blocks, --prometheus-textfile, --serve; given: --csv, --serve",
        ),
        (["--serve", "9", "--samples"], "--samples is for --csv and --parquet; metrics hold both kinds"),
        (["--csv", "-", "--every", "1"], "--every is for --prometheus-textfile"),
        (["--csv", "/nowhere/run.csv"], "cannot write /nowhere/run.csv: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    WrittenRun(tmp_path / "run").add_steps(1)

    assert run_command_line(["export", str(tmp_path / "run"), *options]) == 2
    assert capsys.readouterr().err == f"tenure: {told}\n"


def test_a_folder_without_a_recording_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["export", str(tmp_path), "--csv", str(tmp_path / "run.csv")]) == 2

    assert "holds no recording yet" in capsys.readouterr().err
    assert not (tmp_path / "run.csv").exists()
