"""The dashboard on recordings that programs might write, driven by Textual's pilot and read as text."""

from __future__ import annotations

import asyncio
import json
import platform
import re
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from heaps import census
from tenure.errors import RecordingError
from tenure.live.dashboard import Dashboard
from tenure.live.findings_apart import find
from tenure.live.view import RunView
from tenure.live.watched_run import WatchedRun
from tenure.model.finding import Diagnosis
from tenure.store.census_file import write_census
from tenure.store.format import CENSUS_WANTED_FILE
from tenure.store.recording_file import RecordingWriter

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = [(20, 5), (80, 24), (200, 60)]


class Program:
    """Writes a recording as the recorder would: on a device of 8 GiB, keeping 64 KiB per step."""

    def __init__(self, folder: Path, *, rank: int | None = None) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.writer = RecordingWriter(folder, process={"rank": rank, "pid": 1})
        self.step = 0

    def train(self, steps: int) -> None:
        for self.step in range(self.step + 1, self.step + steps + 1):
            counters = {
                "allocated_bytes": GIB + 64 * KIB * self.step,
                "allocated_peak_bytes": 2 * GIB + 64 * KIB * self.step,
                "active_bytes": GIB + 64 * KIB * self.step,
                "reserved_bytes": 4 * GIB,
                "inactive_split_bytes": GIB,
                "rss_bytes": 2 * GIB,
            }
            if self.step == 1:
                counters |= {"device_index": 0, "device_total_bytes": 8 * GIB, "device_free_bytes": 3 * GIB}
            row = {"step": self.step, "time": self.step / 4, "seconds": 0.25, "counters": counters}
            self.writer.add_row("steps", json.dumps(row))
        host = {"host_available_bytes": 20 * GIB, "host_total_bytes": 32 * GIB, "device_process_bytes": 5 * GIB}
        host |= {"device_used_bytes": 5 * GIB, "device_busy_percent": 71, "device_celsius": 60, "num_threads": 12}
        sample = {"step": self.step, "time": self.step / 4, "seconds": 0.001, "counters": host}
        self.writer.add_row("samples", json.dumps(sample))
        self.writer.flush()

    def take_census(self, moment: str = "step-end") -> None:
        name = f"census-{self.step:06d}-{moment}.npz"
        kept = f"main.history -> list -> [*{self.step // 100}] tensor 4MiB"
        write_census(self.folder / name, census(kept, step=self.step, moment=moment))
        roles = {"parameter": 512 * MIB, "gradient": 512 * MIB, "activation": 64 * KIB * self.step}
        row = {"kind": "census", "step": self.step, "moment": moment, "file": name, "seconds": 0.1}
        self.writer.append({**row, "num_objects": 9, "bytes_by_role": roles}, flush=True)

    def note(self, text: str) -> None:
        self.writer.append({"kind": "note", "level": "info", "text": text, "step": self.step}, flush=True)

    def end(self) -> None:
        self.writer.append({"kind": "end", "reason": "exit", "exit_code": 0, "steps": self.step})
        self.writer.close()


def no_findings(folder: str) -> Diagnosis:
    return Diagnosis(
        recording=folder, steps=1, findings=(), unexplained_growth_bytes_per_step=0, not_seen=(), censuses=2
    )


class Finder:
    """Finds nothing, and counts how often it was asked for which folder."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, folder: str) -> Diagnosis:
        self.asked.append(Path(folder).name)
        return no_findings(folder)


def screen_text(app: Dashboard) -> list[str]:
    """What stands on the screen, line by line, as a person sees it."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


async def look_again(app: Dashboard) -> None:
    """As the clock would have it do, at once."""
    app._next_look = 0.0
    app.look_if_due()
    await app.settle()


def drive(
    folder: Path,
    work: Callable[[Dashboard], Awaitable[None]],
    *,
    size: tuple[int, int] = (80, 24),
    find: Callable[[str], Awaitable[Diagnosis]] | None = None,
) -> Dashboard:
    """Run the dashboard in a window of that size; `work` is given it and what waits for the next look to be shown."""
    clock = iter(range(1_000_000))
    watched = WatchedRun(str(folder), clock=lambda: float(next(clock)) / 100)
    app = Dashboard(watched.look, find or Finder(), look_closer=watched.look_closer)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:

            async def settle() -> None:
                await app.workers.wait_for_complete()
                await pilot.pause()
                await app.workers.wait_for_complete()
                await pilot.pause()

            app.settle, app.press = settle, pilot.press  # type: ignore[attr-defined]
            await settle()
            await work(app)

    asyncio.run(run())
    return app


def growing_run(folder: Path) -> Program:
    program = Program(folder)
    for _ in range(2):
        program.train(200)
        program.take_census()
    return program


def test_memory_forecast_counters_and_findings_stand_on_one_screen(tmp_path: Path) -> None:
    program = growing_run(tmp_path / "run")
    program.note("allocated memory grows; a closer look comes")
    shown: list[str] = []

    async def look(app: Dashboard) -> None:
        shown.extend(screen_text(app))

    drive(program.folder, look)
    drawn = [re.sub("[▁-█]+", "~", line) for line in shown]
    assert drawn == [
        "step 400 · out of memory in 5.7 h · 4.0 steps/s · 100 s",
        "                        now steps 1 to 400            least–most        grows by",
        "allocated          1.02 GiB ~ 1.00–1.02 GiB +64.00 KiB/step",
        "reserved           4.00 GiB ~      4.00 GiB",
        "resident           2.00 GiB ~      2.00 GiB",
        "out of memory (device) in about 5.7 h, 5.5 h to 5.8 h; about 82,000 steps, 90 %",
        "between 79,000 and 84,000; 4.98 GiB left",
        "by role, from censuses",
        "gradient         512.00 MiB ~    512.00 MiB",
        "parameter        512.00 MiB ~    512.00 MiB",
        "activation        25.00 MiB ~ 12.5–25.0 MiB",
        "allocator  peak 2.02 GiB · 74 % of reserved not in use, 25 % in split blocks",
        "device  used 5.00 GiB of 8.00 GiB · this process 5.00 GiB · 71 % busy · 60 °C",
        "host  available 20.00 GiB of 32.00 GiB · 12 threads",
        "findings  none · from 2 censuses",
        "note  step 400: allocated memory grows; a closer look comes",
        *[""] * 7,
        " q Quit  c Census now  f Findings",
    ]


def test_what_a_peak_was_made_of_is_told_where_a_census_saw_it(tmp_path: Path) -> None:
    program = Program(tmp_path / "run")
    program.train(6)
    program.take_census("peak")
    told: list[str] = []

    async def look(app: Dashboard) -> None:
        told.extend(line for line in screen_text(app) if line.startswith("peak"))

    drive(program.folder, look, size=(140, 24))
    made_of = "parameter 512.00 MiB · gradient 512.00 MiB · activation 384.00 KiB"
    assert told == [f"peak  highest 2.00 GiB in step 6 · in step 6 tensors were {made_of}"]


def test_the_smallest_window_shows_step_pace_and_what_is_held(tmp_path: Path) -> None:
    program = Program(tmp_path / "run")
    program.train(50)
    shown: list[str] = []

    async def look(app: Dashboard) -> None:
        shown.extend(screen_text(app))

    drive(program.folder, look, size=(20, 5))
    assert shown == [
        "step 50 · 4.0",
        "steps/s · 12 s",
        "allocated  1.00 GiB",
        "reserved   4.00 GiB",
        " q Quit  c Census no",
    ]


def test_pictures_begin_and_end_at_the_same_columns_in_all_rows(tmp_path: Path) -> None:
    growing_run(tmp_path / "run")
    spans: set[tuple[int, int]] = set()

    async def measure(app: Dashboard) -> None:
        drawn = [found.span() for line in screen_text(app) if (found := re.search("[▁-█]+", line))]
        spans.update(drawn)

    drive(tmp_path / "run", measure, size=(120, 30))
    assert spans == {(28, 90)}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_windows_of_any_size_show_a_run_and_all_keys_work(tmp_path: Path, size: tuple[int, int]) -> None:
    growing_run(tmp_path / "run")
    for rank in (1, 2):
        growing_run(tmp_path / "run" / f"rank-0000{rank}")
    shown: list[list[str]] = []

    async def press_all(app: Dashboard) -> None:
        for key in ("r", "tab", "c", "f", "f", "down", "pagedown", "q"):
            shown.append(screen_text(app))
            await app.press(key)
            if key != "q":
                await look_again(app)

    drive(tmp_path / "run", press_all, size=size)
    assert all(len(screen) == size[1] and max(map(len, screen)) <= size[0] for screen in shown)
    assert all("step 400" in " ".join(screen[:2]) for screen in shown[:4])


def test_what_the_program_writes_meanwhile_is_shown_at_the_next_look(tmp_path: Path) -> None:
    program = growing_run(tmp_path / "run")
    heads: list[str] = []

    async def watch(app: Dashboard) -> None:
        for steps in (0, 100):
            program.train(steps)
            await look_again(app)
            heads.append(screen_text(app)[0].partition(" · ")[0])
        program.end()
        await look_again(app)
        heads.append(screen_text(app)[0].rpartition(" · ")[2])

    drive(program.folder, watch)
    assert heads == ["step 400", "step 500", "ended: exit"]


def test_findings_are_looked_for_again_only_when_a_new_census_has_come(tmp_path: Path) -> None:
    program, finder, asked = growing_run(tmp_path / "run"), Finder(), []

    async def watch(app: Dashboard) -> None:
        asked.append(len(finder.asked))
        program.train(10)
        await look_again(app)
        asked.append(len(finder.asked))
        program.take_census()
        await look_again(app)
        asked.append(len(finder.asked))

    drive(program.folder, watch, find=finder)
    assert asked == [1, 1, 2]


def test_a_diagnosis_that_fails_is_one_line(tmp_path: Path) -> None:
    async def fail(folder: str) -> Diagnosis:
        raise RecordingError("no whole row")

    said: list[str] = []

    async def read(app: Dashboard) -> None:
        said.extend(line for line in screen_text(app) if line.startswith("findings"))

    drive(growing_run(tmp_path / "run").folder, read, find=fail)
    assert said == ["findings  not looked for: no whole row"]


@pytest.mark.slow
def test_ranks_stand_side_by_side_and_the_next_is_chosen_by_a_key(tmp_path: Path) -> None:
    for rank, steps in ((0, 400), (1, 390), (2, 400)):
        Program(tmp_path / "run" / f"rank-0000{rank}", rank=rank).train(steps)
    heads: list[str] = []
    table: list[str] = []

    async def choose(app: Dashboard) -> None:
        table.extend([*screen_text(app)[1:5], *screen_text(app)[11:13]])
        for _ in range(4):
            heads.append(screen_text(app)[0].partition(" · ")[0])
            await app.press("r")
            await app.settle()

    drive(tmp_path / "run", choose)
    assert heads == ["rank 0", "rank 1", "rank 2", "rank 0"]
    assert [line.split() for line in table] == [
        "process step allocated resident grows by memory ends".split(),
        "rank 0 400 1.02 GiB 2.00 GiB +64.00 KiB/step 5.7 h".split(),
        "rank 1 390 1.02 GiB 2.00 GiB +64.00 KiB/step 5.7 h".split(),
        "rank 2 400 1.02 GiB 2.00 GiB +64.00 KiB/step 5.7 h".split(),
        "ranks 3 on 1 node · compared up to step 390".split(),
        "none grows more than the others".split(),
    ]


def test_a_census_is_asked_for_of_the_process_that_is_shown(tmp_path: Path) -> None:
    first, second = (Program(tmp_path / "run" / f"rank-0000{rank}", rank=rank) for rank in (0, 1))
    for program in (first, second):
        program.train(2)

    async def ask(app: Dashboard) -> None:
        await app.press("tab", "c")

    drive(tmp_path / "run", ask)
    assert [(program.folder / CENSUS_WANTED_FILE).exists() for program in (first, second)] == [False, True]


@pytest.mark.slow
def test_the_findings_key_opens_the_whole_report_and_closes_it(tmp_path: Path) -> None:
    screens: list[list[str]] = []

    async def open_and_close(app: Dashboard) -> None:
        for key in ("f", "f"):
            await app.press(key)
            await look_again(app)
            screens.append(screen_text(app))

    drive(growing_run(tmp_path / "run").folder, open_and_close)
    assert screens[0][0].startswith("nothing found")
    assert screens[1][0].startswith("step 400")


def test_a_program_that_was_killed_is_gone_without_an_end(tmp_path: Path) -> None:
    program = Program(tmp_path / "run")
    program.train(4)
    process = json.loads((program.folder / "process.json").read_text())
    gone = process | {"pid": 2**22 + 1, "node": platform.node(), "time": 1.0}
    (program.folder / "process.json").write_text(json.dumps(gone))
    heads: list[str] = []

    async def look(app: Dashboard) -> None:
        heads.append(screen_text(app)[0])

    drive(program.folder, look)
    assert heads == ["step 4 · 4.0 steps/s · 1 s · gone without an end"]


@pytest.mark.parametrize(("number", "said"), [(1, "reading ..."), (256, "reading 256 processes ...")])
def test_until_the_first_look_is_over_it_is_said_what_is_read(number: int, said: str) -> None:
    may_end = threading.Event()
    heads: list[str] = []

    def look(position: int) -> RunView:
        may_end.wait()
        return RunView(())

    async def run() -> None:
        app = Dashboard(look, Finder(), num_processes=number)
        async with app.run_test(size=(80, 10)) as pilot:
            heads.append(screen_text(app)[0])
            may_end.set()
            await app.workers.wait_for_complete()
            await pilot.pause()

    asyncio.run(run())
    assert heads == [said]


def test_a_run_that_has_recorded_nothing_yet_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    heads: list[str] = []

    async def wait(app: Dashboard) -> None:
        heads.append(" ".join(screen_text(app)[:2]))
        Program(tmp_path / "run" / "rank-00000", rank=0).train(3)
        await look_again(app)
        heads.append(screen_text(app)[0].partition(" · ")[0])

    drive(tmp_path / "run", wait)
    assert heads[0].startswith("nothing recorded yet")
    assert heads[1] == "rank 0"


def test_a_folder_that_goes_away_is_said_and_what_was_seen_stays(tmp_path: Path) -> None:
    program = growing_run(tmp_path / "run")
    heads: list[str] = []

    async def remove(app: Dashboard) -> None:
        program.folder.rename(tmp_path / "elsewhere")
        await look_again(app)
        heads.append(screen_text(app)[0])

    drive(program.folder, remove, size=(400, 24))
    assert re.sub(r"was .* ago", "was ... ago", heads[0]) == (
        f"{program.folder} is gone; as it was ... ago: step 400 · out of memory in 5.7 h · 4.0 steps/s · 100 s"
    )


def test_a_run_that_is_over_runs_out_of_nothing(tmp_path: Path) -> None:
    program = growing_run(tmp_path / "run")
    program.end()
    shown: list[str] = []

    async def look(app: Dashboard) -> None:
        shown.extend(screen_text(app))

    drive(program.folder, look)
    assert shown[0] == "step 400 · 4.0 steps/s · 100 s · ended: exit"
    assert not any("out of memory" in line for line in shown)


def test_a_role_that_grows_from_census_to_census_says_how_fast(tmp_path: Path) -> None:
    program = Program(tmp_path / "run")
    for _ in range(4):
        program.train(50)
        program.take_census()
    shown: list[str] = []

    async def look(app: Dashboard) -> None:
        shown.extend(line for line in screen_text(app) if line.startswith(("activation", "parameter")))

    drive(program.folder, look)
    assert [line.endswith("+64.00 KiB/step") for line in shown] == [False, True]


@pytest.mark.slow
def test_the_diagnosis_of_a_recording_that_is_being_written_comes_from_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(tmp_path / "run")
    for _ in range(6):
        program.train(100)
        program.take_census()
    said: list[str] = []
    (tmp_path / "numpy.py").write_text("raise ImportError('a file of the user's')")
    monkeypatch.chdir(tmp_path)

    async def read(app: Dashboard) -> None:
        said.extend(line for line in screen_text(app) if line.startswith(("findings", "  TN")))

    drive(program.folder, read, find=find)
    assert [line.split(" · ")[:2] for line in said] == [
        ["findings  1", "from 6 censuses"],
        ["  TN202 tensors-collected", "likely"],
    ]
    assert not (program.folder / "findings.json").exists()
