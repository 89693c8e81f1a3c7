"""Whatever part of the recorder fails, training comes to the same bits and the recording can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.start import Outcome, start
from tenure.errors import RecordingError
from tenure.store.recording_file import list_recordings, open_recording

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("failing recorder")]  # its fixture takes a minute


@pytest.fixture(scope="module")
def injected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """The program that trains once for each function of the recorder, that function raising; and its recordings."""
    folder = tmp_path_factory.mktemp("injected")
    return start("failing_recorder.py", str(folder)), folder


def test_every_function_of_the_recorder_may_fail(injected: tuple[Outcome, Path]) -> None:
    (plain,) = start("failing_recorder.py", "plain").stdout.splitlines()
    outcome, _ = injected

    assert outcome.exit_code == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    assert len(lines) > 100
    assert [line for line in lines if not line.endswith(plain.partition(" ")[2])] == []


def test_a_failing_census_leaves_a_recording_that_says_so(injected: tuple[Outcome, Path]) -> None:
    recording = open_recording(injected[1] / "0-bug")

    assert [note.text.splitlines()[0] for note in recording.notes if note.level == "failure"] == [
        "RuntimeError: planted"
    ]


def test_every_recording_left_by_a_failure_opens_or_says_in_one_line_what_it_lacks(
    injected: tuple[Outcome, Path],
) -> None:
    folders = [path for folder in sorted(injected[1].iterdir()) for path in list_recordings(folder)]

    told = [_open(path) for path in folders]

    assert told.count("opened") > 50
    assert {line for line in told if line != "opened"} <= {
        f"{path} has no rows-000001.jsonl; the recording cannot be read" for path in folders
    }


def _open(path: str) -> str:
    try:
        open_recording(path)
    except RecordingError as error:
        return str(error)
    return "opened"
