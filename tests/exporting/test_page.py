"""What docs/export.md shows runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.cli.export import export_command
from tenure.exporting.metrics import _KNOWN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "export.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_program_prints_what_the_page_says(tmp_path: Path) -> None:
    (program,) = [text for language, text in BLOCKS if language == "py"]
    command = [sys.executable, "-W", "error", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert (ran.stdout, ran.stderr) == (BLOCKS[-1][1], "tenure: run.csv: 3 steps\n")


def test_the_commands_have_the_options_that_the_page_names() -> None:
    commands = re.findall(r"^tenure export (.*?)(?:  .*)?$", BLOCKS[0][1], re.MULTILINE)

    for command in commands:
        context = export_command.make_context("export", shlex.split(command))
        assert context.params["folder"] == "run"
    assert len(commands) == 7


def test_the_table_names_metrics_that_there_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    told = set(re.findall(r"`tenure_((?:allocator|device|process|host|cgroup)_\w+)`", text))
    names = {known.name + ("_total" if known.only_rises else "") for known in _KNOWN.values()}

    assert told <= names | {"device_beside_allocator_bytes"}
