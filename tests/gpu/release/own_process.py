"""Programs that need a process of their own: one that has not started the device, or that may not use much of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_PROGRAMS = Path(__file__).parent / "programs"


def said_by(name: str, *arguments: str, seconds: int = 120) -> Any:
    """What the program of this name, below `programs`, prints last: a line of JSON."""
    command = [sys.executable, "-W", "ignore", str(_PROGRAMS / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
