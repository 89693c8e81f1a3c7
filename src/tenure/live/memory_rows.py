"""Rows of the dashboard that draw memory over the steps, under a row that says what the columns are."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Sparkline, Static

from tenure.live import lines
from tenure.live.view import MemoryLine
from tenure.model.units import format_bytes


class MemoryRow(Horizontal):
    """Name, bytes now, their course over the steps, between which bytes it is drawn, and growth."""

    DEFAULT_CSS = """
    MemoryRow { height: 1; }
    MemoryRow .name { width: 16; }
    MemoryRow .bytes { width: 11; text-align: right; }
    MemoryRow .course { width: 1fr; height: 1; margin: 0 1; }
    MemoryRow .range { text-align: right; color: $text-muted; }
    MemoryRow .growth { text-align: right; color: $warning; }
    """

    def __init__(self, line: MemoryLine) -> None:
        super().__init__(name=line.name)
        self._line = line

    def compose(self) -> ComposeResult:
        """Five cells."""
        yield Static(lines.name_memory(self._line.name), classes="name", markup=False)
        yield Static(classes="bytes", markup=False)
        yield Sparkline([], classes="course")
        yield Static(classes="range", markup=False)
        yield Static(classes="growth", markup=False)

    def show(self, line: MemoryLine, axes: lines.Axes) -> None:
        """New figures of the same memory."""
        self._line = line
        self.query_one(".bytes", Static).update(format_bytes(line.last_bytes))
        self.query_one(Sparkline).data = line.course
        self.query_one(".range", Static).update(lines.range_of(line))
        self.query_one(".growth", Static).update(lines.growth_of(line.grows_per_step))
        set_widths(self, axes)


class AxesRow(Horizontal):
    """What the columns of `MemoryRow` are: the pictures go over these steps."""

    DEFAULT_CSS = """
    AxesRow { height: 1; text-style: dim; }
    AxesRow .name { width: 16; }
    AxesRow .bytes { width: 11; text-align: right; }
    AxesRow .course { width: 1fr; margin: 0 1; }
    AxesRow .range { text-align: right; }
    AxesRow .growth { text-align: right; }
    """

    def compose(self) -> ComposeResult:
        """Five cells."""
        yield Static("", classes="name")
        yield Static("now", classes="bytes")
        yield Static(classes="course", markup=False)
        yield Static(lines.RANGE_HEAD, classes="range")
        yield Static(lines.GROWTH_HEAD, classes="growth")

    def show(self, axes: lines.Axes) -> None:
        """The steps until now."""
        self.query_one(".course", Static).update(f"steps 1 to {axes.steps:,}")
        set_widths(self, axes)


def set_widths(row: Horizontal, axes: lines.Axes) -> None:
    """The same columns in each row, so that the same step stands in the same place."""
    for name, width in ((".range", axes.range_width), (".growth", axes.growth_width)):
        cell = row.query_one(name, Static)
        cell.styles.width = width
        cell.styles.margin = (0, 0, 0, 1) if width and name == ".growth" else 0


class MemoryRows(Vertical):
    """Rows that come and go with what is measured."""

    DEFAULT_CSS = "MemoryRows { height: auto; }"

    async def show(self, found: Sequence[MemoryLine], axes: lines.Axes) -> None:
        """These lines in this order."""
        rows = list(self.query(MemoryRow))
        if [row.name for row in rows] != [line.name for line in found]:
            await self.remove_children()
            rows = [MemoryRow(line) for line in found]
            await self.mount_all(rows)
        for row, line in zip(rows, found, strict=True):
            row.show(line, axes)
