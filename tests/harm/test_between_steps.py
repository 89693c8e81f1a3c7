"""The thread that looks between steps: whatever the program does meanwhile, it trains on and the recording is whole."""

from __future__ import annotations

import signal
from itertools import pairwise
from pathlib import Path

import pytest

from capture.recorder import CensusLog, recording
from programs.start import Outcome, start, start_watched
from tenure.store.recording_file import open_recording

pytestmark = pytest.mark.slow

AT = ("--census-at", "2,4", "--profile-step", "0")


@pytest.fixture(scope="module")
def plain() -> Outcome:
    outcome = start("between_steps.py")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    return outcome


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("", []),
        ("close-descriptors", ["the program closed descriptors that it did not open: ours was opened anew"]),
        ("clock-back", ["the system's clock was set back by 3,600 s; times here are those of one that goes on"]),
    ],
)
def test_training_goes_on_all_rows_are_there_and_what_happened_is_told(
    what: str, told: list[str], plain: Outcome, tmp_path: Path
) -> None:
    outcome = start_watched("between_steps.py", what, folder=tmp_path / "run", options=AT)

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, plain.stdout, "")
    opened = open_recording(tmp_path / "run")
    assert [step.step for step in opened.steps] == [1, 2, 3, 4, 5, 6]
    assert opened.samples
    assert all(sample.counters["rss_bytes"] > 0 for sample in opened.samples)
    assert all(before.time < after.time for rows in (opened.steps, opened.samples) for before, after in pairwise(rows))
    assert [(note.level, note.text) for note in opened.notes] == [("info", text) for text in told]


def test_a_forked_child_trains_on_alone_and_its_parent_is_watched_on(tmp_path: Path) -> None:
    alone = start("between_steps.py", "fork")
    outcome = start_watched("between_steps.py", "fork", folder=tmp_path / "run", options=AT)

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, alone.stdout, "")
    assert "child 0\n" in outcome.stdout
    opened = open_recording(tmp_path / "run")
    assert [step.step for step in opened.steps] == [1, 2, 3, 4, 5, 6]
    assert opened.notes == ()
    assert opened.end is not None
    assert opened.end["num_forks"] == 1


def test_a_killed_program_loses_no_row_of_more_than_a_second_ago(plain: Outcome, tmp_path: Path) -> None:
    outcome = start_watched("between_steps.py", "killed", folder=tmp_path / "run", options=AT)

    assert (outcome.exit_code, outcome.stdout) == (-signal.SIGKILL, plain.stdout)
    opened = open_recording(tmp_path / "run")
    assert [step.step for step in opened.steps] == [1, 2, 3, 4, 5, 6]
    assert [note.level for note in opened.notes] == ["info"]
    assert opened.end is None


def test_two_recorders_of_one_process_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()

    with recording(tmp_path / "outer", CensusLog()):
        step()
        with recording(tmp_path / "inner", CensusLog()):
            step()
            step()
        step()
    rows = {name: open_recording(tmp_path / name) for name in ("outer", "inner")}

    assert {name: [each.step for each in opened.steps] for name, opened in rows.items()} == {
        "outer": [1, 2, 3, 4],
        "inner": [1, 2],
    }
    told = "another recorder runs in this process: each counts the other's time as the program's"
    assert {name: [note.text for note in opened.notes] for name, opened in rows.items()} == {
        "outer": [told],
        "inner": [told],
    }
