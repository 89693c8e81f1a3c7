"""`tenure watch` in a terminal: memory by role, growth, forecast and findings of a run, as they come."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer, Static

from tenure.errors import TenureError
from tenure.live import lines
from tenure.live.findings_due import Due, findings_due
from tenure.live.memory_rows import AxesRow, MemoryRows
from tenure.live.view import ProcessLine, ProcessView, RunView
from tenure.model.finding import Diagnosis
from tenure.report.terminal import render_diagnosis
from tenure.store.format import CENSUS_WANTED_FILE

REFRESH_SECONDS = 1.0
SHARE = 0.1
"""Of the time that looking may take: runs of millions of steps and hundreds of ranks are looked at less often."""

SCROLLBAR = 2
"""Columns that it takes."""

Look = Callable[[int], RunView]
LookCloser = Callable[[], bool]
Find = Callable[[str], Awaitable[Diagnosis]]


@dataclass
class _Found:
    """The newest diagnosis of one process, and of what it was made."""

    diagnosis: Diagnosis | None = None
    of: Due | None = None
    failure: str | None = None


class FindingsScreen(ModalScreen[None]):
    """The whole report, to be scrolled."""

    DEFAULT_CSS = "FindingsScreen { background: $background; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f", "dismiss", "Back"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__()
        self._diagnosis = diagnosis

    def compose(self) -> ComposeResult:
        """The report as `tenure diagnose` prints it, as wide as the screen is now."""
        text = render_diagnosis(self._diagnosis, width=self.app.size.width - SCROLLBAR, color=False)
        with VerticalScroll():
            yield Static(text, markup=False, id="report")
        yield Footer()


class Dashboard(App[None]):
    """Shows what `look` gives back, asked each second on a thread for the process at a position, and what `find` finds,
    asked at new censuses and as a counter grows.

    Of several processes `look_closer` is called on a thread of its own, at once again while it says that there is more
    to read. `num_processes` are said until the first look is over.
    """

    TITLE = "tenure watch"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (50, "-normal"), (70, "-wide")]  # noqa: RUF012
    CSS = """
    #head { height: auto; max-height: 2; text-style: bold; }
    #body { height: 1fr; }
    #body > Static { width: 1fr; }
    #forecast { color: $warning; }
    #findings { text-wrap: nowrap; text-overflow: ellipsis; }
    #ranks { height: auto; max-height: 12; display: none; }
    .title { text-style: dim; }
    .gone { display: none; }
    .-narrow #body { scrollbar-size-vertical: 0; }
    .-narrow AxesRow, .-normal AxesRow, .-narrow .range, .-normal .range { display: none; }
    .-narrow MemoryRow Sparkline { display: none; }
    .-narrow MemoryRow .name { width: 9; }
    .-narrow MemoryRow .bytes { width: 10; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("c", "census", "Census now"),
        Binding("f", "findings", "Findings"),
        Binding("r,tab", "next_process", "Next rank", key_display="r", priority=True),
    ]

    class Looked(Message):
        """What a look has seen, or why it could not; from its thread."""

        def __init__(self, run: RunView | None, problem: str | None) -> None:
            super().__init__()
            self.run = run
            self.problem = problem

    class LookedCloser(Message):
        """More was read of some processes."""

    def __init__(
        self, look: Look, find: Find, *, look_closer: LookCloser = lambda: False, num_processes: int = 1
    ) -> None:
        super().__init__()
        self._num_processes = num_processes
        self._look = look
        self._look_closer = look_closer
        self._find = find
        self._seen = RunView(())
        self._shown = 0
        self._found: dict[str, _Found] = {}
        self._cells: list[tuple[str, ...]] = []
        self._looking = self._looking_closer = self._finding = False
        self._next_look = self._next_closer = self._seen_at = 0.0
        self.problem: str | None = None
        """Why there is nothing to show (any more)."""

    def compose(self) -> ComposeResult:
        """One column; what does not fit is scrolled to."""
        what = f" {self._num_processes:,} processes" if self._num_processes > 1 else ""
        yield Static(f"reading{what} ...", id="head", markup=False)
        with VerticalScroll(id="body"):
            table = DataTable[str](id="ranks", cursor_type="row")
            table.can_focus = False
            yield table
            yield AxesRow(classes="gone")
            yield MemoryRows(id="memory")
            yield Static(id="forecast", markup=False, classes="gone")
            yield Static(id="beside", markup=False, classes="gone")
            yield Static("by role, from censuses", id="roles-title", classes="title gone")
            yield MemoryRows(id="roles")
            yield Static(id="counts", markup=False, classes="gone")
            yield Static(id="findings", markup=False, classes="gone")
            yield Static(id="notes", markup=False, classes="gone")
        yield Footer()

    def on_mount(self) -> None:
        """Begin to look."""
        self.query_one("#ranks", DataTable).add_columns(*lines.RANKS_HEAD)
        self.query_one("#body").focus()
        self.set_interval(REFRESH_SECONDS, self.look_if_due)
        self.look_if_due()

    def look_if_due(self) -> None:
        """Look again, unless a look is under way or the last took so long that it is too early."""
        if not self._looking and time.monotonic() >= self._next_look:
            self._looking = True
            self._look_apart(self._shown)
        if not self._looking_closer and len(self._seen.processes) > 1 and time.monotonic() >= self._next_closer:
            self._looking_closer = True
            self._look_closer_apart()

    @work(thread=True, group="look")
    def _look_apart(self, position: int) -> None:
        started = time.monotonic()
        seen: RunView | None = None
        problem = None
        try:
            seen = self._look(position)
        except (TenureError, OSError) as error:
            problem = str(error)
        finally:
            took = time.monotonic() - started
            self._next_look = started + took / SHARE
            self._looking = False
        self.post_message(self.Looked(seen, problem))

    @work(thread=True, group="look-closer")
    def _look_closer_apart(self) -> None:
        started, more = time.monotonic(), False
        try:
            more = self._look_closer()
        except (TenureError, OSError):
            pass  # a look says what is wrong
        finally:
            now = time.monotonic()
            self._next_closer = now if more else started + (now - started) / SHARE
            self._looking_closer = False
        if more:
            self.post_message(self.LookedCloser())

    def on_dashboard_looked_closer(self) -> None:
        """Read on at once."""
        self.look_if_due()

    @property
    def _base(self) -> Screen[object]:
        """The dashboard's own screen, which the findings may cover."""
        return self.screen_stack[0]

    async def on_dashboard_looked(self, looked: Looked) -> None:
        """Show what is new; nothing any more where the person has quit meanwhile."""
        if not self.screen_stack:
            return
        self.problem = looked.problem
        if looked.run is not None and looked.run.processes:
            self._seen, self._seen_at = looked.run, time.monotonic()
            self._shown = min(self._shown, len(looked.run.processes) - 1)
            self.refresh_bindings()
        await self._show()
        self._find_if_new()
        if looked.run is not None and looked.run.shown is not None and self.shown is None:
            self._look_at_once()  # another was chosen meanwhile

    @property
    def chosen(self) -> ProcessLine | None:
        """The process that the person has chosen, whether its figures are read or not."""
        return self._seen.processes[self._shown] if self._seen.processes else None

    @property
    def shown(self) -> ProcessView | None:
        """The same with its figures; None until they are read."""
        view, chosen = self._seen.shown, self.chosen
        return view if view is not None and chosen is not None and view.path == chosen.path else None

    def _look_at_once(self) -> None:
        self._next_look = 0.0
        self.look_if_due()

    async def _show(self) -> None:
        view, chosen = self.shown, self.chosen
        if chosen is None:
            self._say("#head", [self.problem or "nothing recorded yet; a program records from its first step on"])
            return
        self._show_ranks()
        if view is None:
            self._say("#head", [self.problem or f"reading {chosen.name} ..."])
            return
        ago = time.monotonic() - self._seen_at
        gone = self.problem
        self._say("#head", [lines.headline(view) if gone is None else lines.without_folder(gone, view, seconds=ago)])
        self._say("#forecast", [lines.forecast_line(view)])
        self._say("#beside", [lines.ranks_text(self._seen, width=self.size.width - SCROLLBAR)])
        axes = lines.axes_of(view)
        self._base.query_one(AxesRow).set_class(not view.memory, "gone")
        self._base.query_one(AxesRow).show(axes)
        await self._base.query_one("#memory", MemoryRows).show(view.memory, axes)
        self._base.query_one("#roles-title").set_class(not view.roles, "gone")
        await self._base.query_one("#roles", MemoryRows).show(view.roles, axes)
        self._say("#counts", lines.counts_lines(view))
        self._say("#notes", lines.notes_lines(view))
        self._show_findings(view)

    def _say(self, where: str, said: Sequence[str]) -> None:
        """A line of nothing takes no room."""
        widget = self._base.query_one(where, Static)
        text = "\n".join(line for line in said if line)
        widget.set_class(not text, "gone")
        widget.update(Text(text))

    def _show_ranks(self) -> None:
        table = self._base.query_one("#ranks", DataTable)
        table.styles.display = "block" if len(self._seen.processes) > 1 else "none"
        if len(self._seen.processes) < 2:
            return
        cells = [lines.rank_cells(line) for line in self._seen.processes]
        if len(self._cells) == len(cells):
            for row, (former, values) in enumerate(zip(self._cells, cells, strict=True)):
                for column, value in enumerate(values):
                    if value != former[column]:
                        table.update_cell_at((row, column), value, update_width=True)  # type: ignore[arg-type]
        else:
            table.clear()
            table.add_rows(cells)
        self._cells = cells
        table.move_cursor(row=self._shown)

    def _show_findings(self, view: ProcessView) -> None:
        found = self._found.get(view.path, _Found())
        self._say("#findings", lines.findings_lines(found.diagnosis, state=self._state(view, found)))

    def _state(self, view: ProcessView, found: _Found) -> str:
        if found.failure is not None:
            return f"not looked for: {found.failure}"
        if not _due(view):
            return "no census yet"
        if found.diagnosis is None or found.of is None:
            return "looking ..."
        again = ", looking again" if found.of != _due(view) else ""
        return f"from {found.of.num_censuses} {'census' if found.of.num_censuses == 1 else 'censuses'}{again}"

    def _find_if_new(self) -> None:
        view = self.shown
        if view is None or self._finding or not _due(view):
            return
        found = self._found.setdefault(view.path, _Found())
        if found.of != _due(view):
            self._finding = True
            self._find_apart(view, found)
            self._show_findings(view)

    @work(group="find")
    async def _find_apart(self, view: ProcessView, found: _Found) -> None:
        try:
            found.diagnosis, found.failure = await self._find(view.path), None
        except (TenureError, OSError) as error:
            found.failure = str(error)
        finally:
            found.of = _due(view)
            self._finding = False
        if self.shown is not None and self.screen_stack:
            self._show_findings(self.shown)
            self._find_if_new()

    def action_census(self) -> None:
        """Have the program whose figures are shown take a census at its next step's end."""
        chosen = self.chosen
        if chosen is None:
            return
        if chosen.end is not None or chosen.running is False:
            self.notify("its run is over: no census can be taken any more", severity="warning")
            return
        try:
            Path(chosen.path, CENSUS_WANTED_FILE).touch()
        except OSError as error:
            self.notify(f"cannot ask for a census: {error.strerror or error}", severity="error")
            return
        self.notify("asked for a census; it comes with the next step")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """One process has no next."""
        return len(self._seen.processes) > 1 if action == "next_process" else True

    async def action_next_process(self) -> None:
        """Show the next process of the run."""
        self._shown = (self._shown + 1) % len(self._seen.processes)
        await self._show()
        self._look_at_once()

    def action_findings(self) -> None:
        """Show the report of the findings so far."""
        view = self.shown
        found = self._found.get(view.path) if view is not None else None
        if found is None or found.diagnosis is None:
            self.notify("no findings yet: they are looked for at each new census, and when memory grows")
        else:
            self.push_screen(FindingsScreen(found.diagnosis))


def _due(view: ProcessView) -> Due:
    return findings_due(view.num_censuses, view.outlook)


def watch_on_screen(folder: str) -> None:
    """Show the run in `folder` until the person quits."""
    from tenure.live.findings_apart import find
    from tenure.live.watched_run import WatchedRun
    from tenure.store.recording_file import list_recordings

    run = WatchedRun(folder)
    Dashboard(run.look, find, look_closer=run.look_closer, num_processes=len(list_recordings(folder))).run()
