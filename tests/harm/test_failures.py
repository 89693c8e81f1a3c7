"""Whatever part of the recorder fails, training comes to the same bits and the recording can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.start import start
from tenure.errors import RecordingError
from tenure.store.recording_file import list_recordings, open_recording

pytestmark = pytest.mark.slow
SHARES = 5


@pytest.mark.parametrize("share", range(SHARES))
def test_whatever_part_of_the_recorder_fails_training_and_the_recording_stay_whole(share: int, tmp_path: Path) -> None:
    """The program trains twice for each function of the recorder, which then raises, a fifth of them in one process:
    hooks that a failing part cannot take off make the next training slower."""
    (plain,) = start("failing_recorder.py", "plain").stdout.splitlines()
    outcome = start("failing_recorder.py", str(tmp_path), str(share), str(SHARES))

    assert outcome.exit_code == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    assert len(lines) > 100 / SHARES
    assert [line for line in lines if not line.endswith(plain.partition(" ")[2])] == []

    failed = open_recording(tmp_path / "0-bug") if share == 0 else None
    failures = [note.text.splitlines()[0] for note in failed.notes if note.level == "failure"] if failed else []
    assert failures == (["RuntimeError: planted"] if share == 0 else [])

    folders = [path for folder in sorted(tmp_path.iterdir()) for path in list_recordings(folder)]
    told = [_open(path) for path in folders]
    assert told.count("opened") > 50 / SHARES
    assert {line for line in told if line != "opened"} <= {
        f"{path} has no rows-000001.jsonl; the recording cannot be read" for path in folders
    }


def _open(path: str) -> str:
    try:
        open_recording(path)
    except RecordingError as error:
        return str(error)
    return "opened"
