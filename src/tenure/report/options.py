"""What options make of a plan, as a table and as JSON; analyses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tenure.model.plan import Plan, TriedOption
from tenure.model.units import format_bytes
from tenure.report.layout import wrap

_AS_IT_IS = "as it is"
_HEAD = ("option", "in use", "reserved", "compute", "operations")
_INDENT = "    "


def render_options(plan: Plan, options: Sequence[TriedOption], *, width: int) -> str:
    """A table of what was run, below each row the lines that make the change, then what was not run and why."""
    rows = [each for each in options if each.why_not is None]
    left = max(len(name) for name in (_AS_IT_IS, *map(name_of, rows)))
    lines = ["", "options, each by running the program under it", _line(_HEAD, left), _line(_of_plan(plan), left)]
    for before, row in zip((None, *rows), rows, strict=False):
        lines += [_line(_of_option(row, plan), left), *_below(row, before, width)]
    others = [each for each in options if each.why_not is not None]
    if others:
        lines += ["", "without figures"]
    for each in others:
        lines += wrap(f"{name_of(each)}: {each.why_not}", width=width, first="", rest=_INDENT)
    return "\n".join(lines) + "\n"


def option_as_dict(option: TriedOption) -> dict[str, Any]:
    """The same as `tenure plan --json` gives it."""
    found = {name: list(each) if isinstance(each, tuple) else each for name, each in asdict(option).items()}
    return {"name": name_of(option), **found, "part": None if option.part is None else option.part.value}


def name_of(option: TriedOption) -> str:
    """`checkpointing + no-foreach`."""
    return " + ".join(option.options)


def _line(cells: Sequence[str], left: int) -> str:
    name, *figures = cells
    return f"{name:<{left}}" + "".join(f"  {figure:>10}" for figure in figures)


def _of_plan(plan: Plan) -> tuple[str, ...]:
    sizes = (format_bytes(plan.peak_active_bytes), format_bytes(plan.peak_reserved_bytes))
    return (_AS_IT_IS, *sizes, "1.00", f"{plan.num_operations:,}")


def _of_option(option: TriedOption, plan: Plan) -> tuple[str, ...]:
    compute = "?" if option.compute is None else f"{option.compute:.2f}"
    sizes = (format_bytes(option.peak_active_bytes or 0), format_bytes(option.peak_reserved_bytes or 0))
    return (name_of(option), *sizes, compute, f"{option.num_operations or 0:,}")


def _below(option: TriedOption, before: TriedOption | None, width: int) -> Iterator[str]:
    """What the row above says word for word, as of shards over more ranks, is not said again."""
    fits = {True: "fits", False: "does not fit", None: ""}[option.fits]
    peak = f"peak in {option.part.value}" if option.part is not None else ""
    notes = () if before is not None and option.notes == before.notes else option.notes
    told = "; ".join(filter(None, (fits, peak, *option.signs, *notes)))
    yield from wrap(told, width=width, first=_INDENT, rest=_INDENT)
    if len(option.options) == 1:
        is_same = before is not None and option.change == before.change
        yield from (f"{_INDENT}| {line}" for line in (("as above",) if is_same else option.change))
