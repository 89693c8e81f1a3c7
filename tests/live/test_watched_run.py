"""Runs of many processes: one in full, the others by their last rows, then read closely a few at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.test_dashboard import GIB, KIB, Program, drive, screen_text
from tenure.live import close_reading, watched_run
from tenure.live.dashboard import Dashboard
from tenure.live.view import ProcessLine, RunView
from tenure.live.watched_run import WatchedRun

RANKS = 6


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_run, "FEW", 2)
    monkeypatch.setattr(close_reading, "AT_ONCE", 2)


def ranks(folder: Path, *, steps: int = 200) -> list[Program]:
    programs = [Program(folder / f"rank-{rank:05d}", rank=rank) for rank in range(RANKS)]
    for program in programs:
        program.train(steps)
    return programs


def read_to_the_end(run: WatchedRun) -> RunView:
    while run.look_closer():
        pass
    return run.look()


def test_the_first_look_reads_one_process_in_full_and_of_the_others_their_last_rows(tmp_path: Path) -> None:
    ranks(tmp_path / "run")
    seen = WatchedRun(str(tmp_path / "run")).look(1)
    assert seen.shown is not None
    assert seen.shown.name == "rank 1"
    assert len(seen.shown.memory) == 3
    assert (seen.ranks, seen.num_unread) == (None, RANKS)
    path = str(tmp_path / "run" / "rank-00005")
    assert seen.processes[5] == ProcessLine(path, "rank 5", 200, GIB + 200 * 64 * KIB, 2 * GIB)


def test_read_closely_a_run_of_many_says_what_a_run_of_few_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks(tmp_path / "run")
    watched = WatchedRun(str(tmp_path / "run"))
    watched.look()
    many = read_to_the_end(watched)
    monkeypatch.setattr(watched_run, "FEW", RANKS)
    few = WatchedRun(str(tmp_path / "run")).look()
    assert many.processes == few.processes
    assert (many.ranks, many.num_unread) == (few.ranks, 0)
    assert [round(line.growth[0].per_step) for line in few.processes if line.growth] == [64 * KIB] * RANKS


def test_ranks_are_compared_before_growth_is_looked_for_in_each(tmp_path: Path) -> None:
    ranks(tmp_path / "run")
    watched = WatchedRun(str(tmp_path / "run"))
    watched.look()
    told = []
    for _ in range(7):
        watched.look_closer()
        seen = watched.look()
        told.append((seen.ranks is not None, seen.num_unread))
    assert told == [(False, 6), (False, 6), (False, 6), (True, 6), (True, 4), (True, 2), (True, 0)]


def test_only_processes_with_news_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, opened = ranks(tmp_path / "run"), []
    watched = WatchedRun(str(tmp_path / "run"))
    watched.look()
    read_to_the_end(watched)
    open_recording = close_reading.open_recording
    monkeypatch.setattr(
        close_reading, "open_recording", lambda path: opened.append(Path(path).name) or open_recording(path)
    )
    programs[4].train(10)
    watched.look()
    for _ in range(4):
        watched.look_closer()
    assert opened == ["rank-00004", "rank-00004"]
    assert watched.look().processes[4].steps == 210


def test_a_rank_that_was_read_before_the_others_has_not_ended(tmp_path: Path) -> None:
    programs = ranks(tmp_path / "run")
    watched = WatchedRun(str(tmp_path / "run"))
    watched.look()
    watched.look_closer()
    for program in programs:
        program.train(100)
    seen = watched.look()
    seen = read_to_the_end(watched)
    assert seen.ranks is not None
    assert seen.ranks.ended_early == ()


def test_rows_of_processes_that_were_shown_long_ago_are_let_go(tmp_path: Path) -> None:
    ranks(tmp_path / "run", steps=3)
    watched = WatchedRun(str(tmp_path / "run"))
    shown = [watched.look(position).shown for position in range(RANKS)]
    assert [view.name for view in shown if view] == [f"rank {rank}" for rank in range(RANKS)]
    assert [Path(path).name for path in watched._shown] == [f"rank-0000{rank}" for rank in range(2, RANKS)]


def test_until_they_are_read_cells_say_so_and_then_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks(tmp_path / "run")
    screens: list[list[str]] = []
    read_some = WatchedRun.look_closer
    monkeypatch.setattr(WatchedRun, "look_closer", lambda watched: bool(screens) and read_some(watched))

    async def wait(app: Dashboard) -> None:
        screens.append(screen_text(app))
        for _ in range(8):
            app._next_look = 0.0
            app.look_if_due()
            await app.settle()
        screens.append(screen_text(app))

    drive(tmp_path / "run", wait, size=(100, 40))
    first, last = ([line.split() for line in screen if line.startswith(" rank ")] for screen in screens)
    assert first == [["rank", str(rank), "200", "1.01", "GiB", "2.00", "GiB", "...", "..."] for rank in range(RANKS)]
    assert last == [
        ["rank", str(rank), "200", "1.01", "GiB", "2.00", "GiB", "+64.00", "KiB/step", "5.7", "h"]
        for rank in range(RANKS)
    ]
    assert any(line.startswith("6 processes · steps 200 to 200 · 6 are still to be read") for line in screens[0])
    assert any(line.startswith("ranks         6 on 1 node") for line in screens[1])
