"""Programs of the rules' pages, run under the recorder once per worker whoever asks: a run takes seconds."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PROGRAM = "program.py"


class PageRun(NamedTuple):
    findings: list[dict]
    printed: str


@functools.cache
def run_program(text: str) -> PageRun:
    """What is found and printed, run as a user would run it, on one thread: others share the machine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / PROGRAM).write_text(text, encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-m", "tenure", "run", "-o", "recording", "--json", "findings.json", PROGRAM],
            cwd=folder,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert run.returncode == 0, run.stderr
        return PageRun(json.loads((folder / "findings.json").read_text(encoding="utf-8"))["findings"], run.stdout)
