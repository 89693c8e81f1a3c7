"""The page of `tenure plan`: its program, planned, prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tenure.cli.main import run_command_line

PAGE = Path(__file__).resolve().parent.parent / "docs" / "plan.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_pages_program_is_planned_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, command, output, *_ = (text for _, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(program)

    assert run_command_line(command.split()[1:]) == 0

    assert capsys.readouterr().out == output
