"""The survey of a program as a file of JSON, beside its recordings."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tenure.errors import RecordingError
from tenure.model.trial import Blocks, Survey
from tenure.store.whole_file import write_whole

_NAME = "survey.json"


def write_survey(folder: Path, survey: Survey) -> None:
    """Whole or not at all; where one is there already, the first process's stays."""
    if not (folder / _NAME).exists():
        write_whole(folder / _NAME, json.dumps(asdict(survey)) + "\n")


def read_survey(folder: Path) -> Survey | None:
    """None where no process has left one; RecordingError where it cannot be read."""
    path = folder / _NAME
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        blocks = tuple(Blocks(each["container"], each["of_class"], each["count"]) for each in found["blocks"])
        return Survey(blocks, tuple(found["optimizers"]), dict(found["refused"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"{path}: no survey of a program: {error}") from error
