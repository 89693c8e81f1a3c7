from __future__ import annotations

from pathlib import Path

import pytest

import tenure.diagnose
from report.findings import diagnosis, kept_loss
from tenure.cli.main import run_command_line
from tenure.report.json import diagnosis_as_json
from tenure.report.terminal import render_diagnosis


def test_written_findings_are_printed_again_without_diagnosing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    (tmp_path / "findings.json").write_text(diagnosis_as_json(diagnosis(kept_loss())), encoding="utf-8")
    assert run_command_line(["report", str(tmp_path)]) == 1
    assert capsys.readouterr() == (render_diagnosis(diagnosis(kept_loss()), width=90, color=False), "")


def test_without_findings_it_diagnoses_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tenure.diagnose, "diagnose", lambda path: diagnosis())
    assert run_command_line(["report", str(tmp_path), "--json"]) == 0
    assert capsys.readouterr() == (diagnosis_as_json(diagnosis()), "")


def test_damaged_findings_are_one_line_and_stay_untouched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "findings.json"
    file.write_bytes(b'{"format": 1, \xff')
    assert run_command_line(["report", str(tmp_path)]) == 2
    expected = f"tenure: {file} is not a findings file; delete it and diagnose again\n"
    assert capsys.readouterr() == ("", expected)
    assert file.read_bytes() == b'{"format": 1, \xff'
