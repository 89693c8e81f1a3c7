"""Programs that do what few do print, learn and end the same with and without the recorder."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.start import start, start_watched
from tenure.store.recording_file import open_recording

pytestmark = pytest.mark.slow


def test_an_unusual_program_notices_nothing_and_is_recorded(tmp_path: Path) -> None:
    """Modes that print, a `parameters()` and a `resource.py` of its own, trees nearly as deep as Python lets them be,
    products (whose gradients torch would compute otherwise under our mode), chains of calls."""
    plain = start("unusual/train.py")
    watched = start_watched("unusual/train.py", folder=tmp_path / "run")

    assert plain.exit_code == 0, plain.stderr
    assert (watched.exit_code, watched.stdout, watched.stderr) == (0, plain.stdout, plain.stderr)
    recording = open_recording(tmp_path / "run")
    assert len(recording.steps) == 12
    assert [note.text for note in recording.notes if note.level == "failure"] == []


def test_a_program_with_a_module_by_our_name_runs_and_is_told_why_it_is_not_recorded(tmp_path: Path) -> None:
    watched = start_watched("own_tenure/train.py", folder=tmp_path / "run")

    assert (watched.exit_code, watched.stdout) == (0, "7\n"), watched.stderr
    assert "the program has a module tenure of its own" in watched.stderr
