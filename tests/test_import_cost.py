"""What commands load: counted in modules, not in seconds, so that a busy machine cannot fail it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.store.recording_file import RecordingWriter

HEAVY = {
    "torch",
    "numpy",
    "rich",
    "psutil",
    "pynvml",
    "libcst",
    "textual",
    "asyncio",
    "multiprocessing",
    "email",
    "http",
}


def modules_after(program: str, *options: str) -> set[str]:
    """Top-level modules and packages (ours with their full names) that `program` has loaded."""
    tell = f"{program}\nimport sys, json\nsys.stderr.write(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, *options, "-c", tell]
    loaded = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stderr)
    return {name if name.startswith("tenure") else name.partition(".")[0] for name in loaded}


def test_import_tenure_loads_itself_and_nothing_else() -> None:
    added = modules_after("import tenure") - modules_after("import typing, __future__")
    assert added == {"tenure"}


@pytest.mark.parametrize("verb", ["--version", "--help"])
def test_the_command_line_starts_without_anything_heavy(verb: str) -> None:
    program = f"from tenure.cli.main import run_command_line; run_command_line([{verb!r}])"
    assert modules_after(program) & HEAVY == set()


def test_reading_a_finding_again_needs_no_numpy_and_no_torch(tmp_path: Path) -> None:
    program = f"from tenure.cli.main import run_command_line; run_command_line(['report', {str(tmp_path)!r}])"
    (tmp_path / "findings.json").write_text(
        '{"format": 1, "recording": "r", "steps": 3, "findings": [], '
        '"unexplained_growth_bytes_per_step": 0, "not_seen": []}'
    )
    assert modules_after(program) & HEAVY == set()


def test_looking_through_source_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\ndef f(total, loss):\n    total.append(loss)\n")
    program = f"from tenure.cli.main import run_command_line; run_command_line(['lint', {str(tmp_path)!r}])"
    assert modules_after(program) & HEAVY == set()


def test_watching_a_run_as_text_needs_no_torch_and_no_textual(tmp_path: Path) -> None:
    RecordingWriter(tmp_path, process={}).close()
    program = f"from tenure.cli.main import run_command_line; run_command_line(['watch', {str(tmp_path)!r}, '--once'])"
    assert modules_after(program) & {"torch", "textual"} == set()


def test_the_dashboard_needs_no_torch() -> None:
    assert "torch" not in modules_after("import tenure.live.dashboard, tenure.live.watched_run, tenure.live.attaching")


def test_diagnosing_needs_no_torch() -> None:
    assert "torch" not in modules_after("import tenure.diagnose, tenure.cli.diagnose, tenure.report.terminal")


@pytest.mark.slow
def test_the_recorder_adds_no_package_that_torch_does_not_load_itself() -> None:
    """The watched program's environment may lack what our reports need."""
    added = modules_after("import torch, tenure.capture.from_environment") - modules_after("import torch")
    foreign = {name for name in added if not name.startswith("tenure") and name not in sys.stdlib_module_names}
    assert foreign == set()
