from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import tenure.diagnose
from report.findings import diagnosis, held_graph, kept_loss
from tenure.cli.diagnose import report_run
from tenure.cli.main import run_command_line
from tenure.model.finding import Diagnosis
from tenure.report.json import diagnosis_as_json
from tenure.report.terminal import render_diagnosis


@pytest.fixture(autouse=True)
def pipe_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")


def let_diagnosis_be(monkeypatch: pytest.MonkeyPatch, found: Diagnosis) -> None:
    monkeypatch.setattr(tenure.diagnose, "diagnose", lambda path: found)


def test_findings_are_printed_and_written_beside_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = diagnosis(held_graph(), kept_loss())
    let_diagnosis_be(monkeypatch, found)
    assert run_command_line(["diagnose", str(tmp_path)]) == 1
    assert capsys.readouterr() == (render_diagnosis(found, width=110, color=False), "")
    assert (tmp_path / "findings.json").read_text(encoding="utf-8") == diagnosis_as_json(found)
    assert [file.name for file in tmp_path.iterdir()] == ["findings.json"]


def test_json_prints_exactly_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_diagnosis_be(monkeypatch, diagnosis(kept_loss()))
    stream = io.StringIO()
    assert report_run(str(tmp_path), json=True, fail_on=None, stream=stream) == 1
    assert stream.getvalue() == (tmp_path / "findings.json").read_text(encoding="utf-8")
    assert json.loads(stream.getvalue())["format"] == 1


@pytest.mark.parametrize(
    ("confidence", "fail_on", "code"),
    [
        ("possible", None, 1),
        ("possible", "likely", 0),
        ("likely", "likely", 1),
        ("certain", "likely", 1),
        ("likely", "certain", 0),
        (None, None, 0),
        (None, "possible", 0),
    ],
)
def test_the_exit_code_follows_the_surest_finding(
    confidence: str | None, fail_on: str | None, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_diagnosis_be(monkeypatch, diagnosis(*([kept_loss(confidence=confidence)] if confidence else [])))
    assert report_run(str(tmp_path), json=False, fail_on=fail_on, stream=io.StringIO()) == code


def test_a_folder_that_cannot_be_written_still_gets_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "findings.json").mkdir()
    found = diagnosis(kept_loss())
    let_diagnosis_be(monkeypatch, found)
    assert run_command_line(["diagnose", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == render_diagnosis(found, width=110, color=False)
    assert err.startswith(f"tenure: {tmp_path}/findings.json could not be written (")
    assert err.count("\n") == 1


@pytest.mark.parametrize("verb", ["diagnose", "report"])
@pytest.mark.parametrize(("name", "found"), [("gone", "does not exist"), ("file", "is a file")])
def test_a_folder_that_is_none_is_named(
    verb: str, name: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run_command_line([verb, str(tmp_path / name)]) == 2
    expected = f"tenure: {tmp_path / name} {found}; name the folder that `tenure run` wrote\n"
    assert capsys.readouterr() == ("", expected)


def test_an_empty_folder_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["diagnose", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), str(tmp_path) in err) == ("", 1, True)
    assert list(tmp_path.iterdir()) == []
