"""The page of worked plans: each program, planned by the command below it, prints what the page says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tenure.cli.main import run_command_line
from test_plan_page import BLOCK

PAGE = Path(__file__).resolve().parent.parent / "docs" / "plan-examples.md"
BLOCKS = [text for _, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]
EXAMPLES = ("speech", "diffusion", "language model")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "command", "output"), list(zip(BLOCKS[::3], BLOCKS[1::3], BLOCKS[2::3], strict=True)), ids=EXAMPLES
)
def test_a_program_is_planned_as_its_example_says(
    program: str,
    command: str,
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(program)

    assert run_command_line(shlex.split(command)[1:]) == 0

    assert capsys.readouterr().out == output
