from __future__ import annotations

from pathlib import Path

import pytest

from tenure.cli.fix import _tell, fix_command
from tenure.cli.main import run_command_line
from tenure.fixing.batch_settings import BatchSetting, InCommand
from tenure.fixing.fix import Proof
from tenure.fixing.runs import Order
from tenure.model.fix import Figures, Fix


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which program?"),
        (["-c", "import torch"], "code without a file cannot be fixed; write it to a file first"),
        (["-"], "code without a file cannot be fixed"),
        (["tarin.py"], "tarin.py: no such file; there is train.py"),
        (["--batch-arg", "--batch-size", "train.py"], "the size of --batch-size is not known; give it to the program"),
        (["--memory", "1GiB", "train.py"], "no batch size is recognised: name the program's option, its key"),
        (
            ["--memory", "1GiB", "train.py", "--bs", "1", "--batch", "2"],
            "several may be the batch size: --bs is 1, --ba",
        ),
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
        "tenure: train.py runs as it is: once where its findings offer no edit, else 3 to 86 times (20 steps each)",
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


@pytest.mark.parametrize("stopped", [KeyboardInterrupt(), SystemExit(143)])
def test_a_search_that_is_interrupted_leaves_the_patch_and_the_result(
    stopped: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    figures = Figures((), 12, step_seconds=0.5)
    proof = Proof(
        Fix("train.py", True, "--- a\n", figures, figures, True, True, True, (), 3),
        {tmp_path / "train.py": (b"1", b"2")},
    )
    batch = BatchSetting("--bs", "--bs", 32, InCommand("--bs", " "))
    written: list[str] = []

    def search(*given: object) -> Fix:
        written.append(Path("fix.patch").read_text())
        raise stopped

    monkeypatch.setattr("tenure.fixing.batches.with_largest", search)
    asked = {"output": "fix.patch", "applies": False, "as_json": False}
    with pytest.raises(type(stopped)):
        _tell(proof, Order((), tmp_path, tmp_path), batch, 1000, asked)

    told = capsys.readouterr()
    assert (written, Path("fix.patch").read_text()) == (["--- a\n"], "--- a\n")
    assert told.out.splitlines()[1] == "  samples per second: those of batch size 32 from --bs"
    assert told.err.splitlines()[-1].startswith("tenure: the search for the largest batch was interrupted; what is pro")
