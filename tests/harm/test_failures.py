"""Whatever part of the recorder fails, training comes to the same bits and the recording can be read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from programs.start import start
from tenure.errors import RecordingError
from tenure.store.recording_file import list_recordings, open_recording

UNGUARDED = "tenure.capture.monitor:is_nested_step"
"""Asked in the optimizer hook before the guard; it only reads Python frames."""


@pytest.mark.slow
def test_every_function_of_the_recorder_may_fail(tmp_path: Path) -> None:
    (plain,) = start("failing_recorder.py", "plain").stdout.splitlines()
    outcome = start("failing_recorder.py", str(tmp_path))

    assert outcome.exit_code == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    assert len(lines) > 100
    expected = plain.partition(" ")[2]
    assert [line for line in lines if not line.endswith(expected) and UNGUARDED not in line] == []


@pytest.mark.slow
def test_a_failing_census_leaves_a_recording_that_says_so(tmp_path: Path) -> None:
    start("failing_recorder.py", str(tmp_path))
    recording = open_recording(tmp_path / "0-bug")

    assert [note.text.splitlines()[0] for note in recording.notes if note.level == "failure"] == [
        "RuntimeError: planted"
    ]
    for folder in tmp_path.iterdir():
        for path in list_recordings(folder):
            with suppress(RecordingError):  # one clear line, never another kind of error
                open_recording(path)
