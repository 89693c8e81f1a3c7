from __future__ import annotations

from pathlib import Path

import pytest

from tenure.cli.fix import fix_command
from tenure.cli.main import run_command_line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which program?"),
        (["-c", "import torch"], "code without a file cannot be fixed; write it to a file first"),
        (["-"], "code without a file cannot be fixed"),
        (["tarin.py"], "tarin.py: no such file; there is train.py"),
        (["--batch-arg", "--batch-size", "train.py"], "takes both: --batch-arg --batch-size --memory 8GiB"),
        (["--memory", "1GiB", "train.py"], "takes both: --batch-arg"),
        (["--batch-arg", "b", "--memory", "much", "train.py"], "--memory much: 'much' is no size"),
        (["-o", "no/such/fix.patch", "train.py"], "cannot write no/such/fix.patch"),
    ],
)
def test_a_mistake_in_the_request_is_one_line_before_anything_runs(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise SystemExit('it ran')\n")

    code = run_command_line(["fix", *arguments])

    told = capsys.readouterr().err
    assert (code, told.count("\n")) == (2, 1)
    assert message in told


def test_it_does_nothing_while_everything_is_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENURE", "0")

    assert run_command_line(["fix", "train.py"]) == 2
    assert capsys.readouterr().err == "tenure: TENURE=0 switches everything off; unset it\n"


def test_without_the_guard_it_runs_nothing_unless_it_may_write_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tenure.fixing.guard.find_library", lambda: None)
    Path("train.py").write_text("open('ran', 'w')\n")

    assert run_command_line(["fix", "train.py"]) == 2
    assert "copy the folder and run there with --in-place" in capsys.readouterr().err
    assert not Path("ran").exists()


def test_the_number_of_runs_is_said_before_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise SystemExit('no data')\n")

    assert run_command_line(["fix", "--steps", "20", "train.py"]) == 2
    assert capsys.readouterr().err.splitlines()[:2] == [
        "tenure: train.py runs as it is: once where its findings offer no edit, else 3 to 68 times (20 steps each)",
        "tenure: run 1: as it is",
    ]


def test_options_end_where_the_program_begins() -> None:
    context = fix_command.make_context("fix", ["--batch-arg", "--batch-size", "--json", "train.py", "--steps", "x"])

    assert context.meta["tenure.program"] == ("script", ("train.py", "--steps", "x"))
    assert (context.params["batch_arg"], context.params["as_json"], context.params["steps"]) == (
        "--batch-size",
        True,
        None,
    )
