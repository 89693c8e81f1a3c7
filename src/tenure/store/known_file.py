"""What is known of a program that ended before it could be planned, as a file of JSON beside its recordings."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tenure.errors import RecordingError
from tenure.model.known import Known, KnownOptimizer
from tenure.store.whole_file import write_whole

_NAME = "known.json"


def write_known(folder: Path, known: Known) -> None:
    """Whole or not at all; where one is there already, the first process's stays."""
    if not (folder / _NAME).exists():
        write_whole(folder / _NAME, json.dumps(asdict(known)) + "\n")


def read_known(folder: Path) -> Known | None:
    """None where no process has left it; RecordingError where it cannot be read."""
    path = folder / _NAME
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Known(**{**found, "optimizers": tuple(KnownOptimizer(**each) for each in found["optimizers"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"{path}: nothing known of a program: {error}") from error
