"""Starts the programs of this folder as a user would: plainly, or with `tenure run` before them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parent
SOURCE = PROGRAMS.parent.parent / "src"


@dataclass(frozen=True)
class Outcome:
    """What a program left behind."""

    exit_code: int
    stdout: str
    stderr: str


def start(program: str, *arguments: str, **environment: str) -> Outcome:
    """Run one program plainly, to its end."""
    return _run([sys.executable, str(PROGRAMS / program), *arguments], environment)


def start_watched(
    program: str, *arguments: str, folder: Path, options: tuple[str, ...] = (), **environment: str
) -> Outcome:
    """Run one program under `tenure run` with its recording in `folder`, without a diagnosis."""
    command = [sys.executable, "-m", "tenure", "run", "-o", str(folder), "--no-diagnose", *options]
    return _run([*command, str(PROGRAMS / program), *arguments], environment)


def diagnose(program: str, *arguments: str, folder: Path, options: tuple[str, ...] = ()) -> dict[str, Any]:
    """What `tenure run --json` wrote about one program that must end well."""
    report = folder.with_suffix(".json")
    command = [sys.executable, "-m", "tenure", "run", "-o", str(folder), "--json", str(report), *options]
    outcome = _run([*command, str(PROGRAMS / program), *arguments], {})
    assert outcome.exit_code == 0, outcome.stderr
    findings: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return findings


def line_of(program: str, text: str) -> int:
    """The number of the one line of a program that contains `text`."""
    lines = (PROGRAMS / program).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, start=1) if text in line]
    return number


def _run(command: list[str], environment: dict[str, str]) -> Outcome:
    own = {name: value for name, value in os.environ.items() if not name.startswith("TENURE")}
    path = os.pathsep.join(filter(None, [str(SOURCE), own.get("PYTHONPATH")]))
    done = subprocess.run(
        command,
        env={**own, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
