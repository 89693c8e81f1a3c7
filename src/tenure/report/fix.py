"""What `tenure fix` proved: a table before and after, what became of each edit, and the same as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tenure.model.finding import Finding
from tenure.model.fix import Figures, Fix, TriedEdit
from tenure.model.units import format_bytes, format_duration
from tenure.report.json import FORMAT, finding_as_dict
from tenure.report.layout import changed_lines, place_of, relative_to_here

UNKNOWN = "not measured"
NOT_COMPARABLE = "not comparable"
MOST_BY_HAND = 5


def fix_as_json(result: Fix) -> str:
    """The text of `tenure fix --json`; keys are added, never renamed."""
    return json.dumps(_as_dict(result), indent=1, allow_nan=False) + "\n"


def write_fix(result: Fix, stream: TextIO) -> None:
    """The table and the edits, for a person, as wide as the stream is."""
    console = Console(file=stream, highlight=False, soft_wrap=not stream.isatty())
    console.print(_headline(result), style="bold")
    for note in result.notes:
        console.print(f"  {escape(note)}")
    console.print(_table(result))
    for title, lines in (("compared", result.compared), ("not compared", result.not_compared)):
        for line in lines:
            console.print(f"{title}: {escape(line)}")
    if result.compared or result.not_compared:
        console.print()
    for tried in result.edits:
        console.print(_edit(tried))
    by_hand = _by_hand(result)
    if by_hand:
        console.print("by hand:")
        for finding in by_hand:
            console.print(_what_to_do(finding))


def _headline(result: Fix) -> str:
    kept = sum(each.kept for each in result.edits)
    if not kept and not result.before.findings:
        return "nothing found: there is nothing to fix"
    if not kept:
        tried = f"; {len(result.edits)} tried" if result.edits else "; none of the findings has one"
        return f"no edit helps{tried}"
    how = "verified" if result.verified else "not proved, as the program is not deterministic,"
    return f"{kept} edit{'s' * (kept > 1)} kept, {how} in {result.num_runs} runs"


def _table(result: Fix) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right")
    for name, before, after in _rows(result.before, result.after):
        table.add_row(name, before, after)
    if result.after is not None:
        near = "norm within tolerance" if result.deterministic is False else NOT_COMPARABLE
        table.add_row("parameters", "", _verdict(result.parameters_equal, "bit-identical", near))
        same, unknown = _say_outputs(result)
        table.add_row("outputs", "", _verdict(result.outputs_equal, same, unknown))
    return table


def _say_outputs(result: Fix) -> tuple[str, str]:
    """What is said of outputs in which nothing differs, and of those that are not all compared."""
    compared, missed = (
        any(not line.startswith("parameters") for line in lines) for lines in (result.compared, result.not_compared)
    )
    in_part = "the same in what is compared"
    return in_part if missed else "the same", in_part if compared and missed else NOT_COMPARABLE


def _rows(before: Figures, after: Figures | None) -> list[tuple[str, str, str]]:
    columns = (before, *([after] if after else []))
    values = {
        "findings": [str(len(each.findings)) for each in columns],
        "peak": [_bytes(each.peak_bytes) for each in columns],
        "growth per step": [_bytes(each.growth_bytes_per_step) for each in columns],
        "alive at the end": [_alive(each) for each in columns],
        "time per step": [_seconds(each.step_seconds) for each in columns],
    }
    if before.largest_batch is not None or (after and after.largest_batch is not None):
        values["largest batch"] = [_batch(each) for each in columns]
    if "largest batch" in values or any(each.samples_per_second is not None for each in columns):
        values["samples per second"] = [
            UNKNOWN if each.samples_per_second is None else f"{each.samples_per_second:,.0f}" for each in columns
        ]
    return [(name, each[0], each[1] if len(each) > 1 else "") for name, each in values.items()]


def _verdict(equal: bool | None, yes: str, unknown: str) -> str:
    return unknown if equal is None else yes if equal else "differ"


def _bytes(value: float | None) -> str:
    return UNKNOWN if value is None else format_bytes(value)


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else format_duration(value) if value >= 1 else f"{value * 1000:.1f} ms"


def _alive(figures: Figures) -> str:
    if figures.alive_bytes is None:
        return UNKNOWN
    return f"{format_bytes(figures.alive_bytes)} in {figures.num_alive:,} storages"


def _batch(figures: Figures) -> str:
    least, most = figures.largest_batch, figures.largest_batch_most
    if most is None:
        return str(least or "none")
    return f"{least} to {most}" if least else f"at most {most}"


def _edit(tried: TriedEdit) -> str:
    mark = "kept    " if tried.kept else "not kept"
    place = place_of(tried.file, tried.line, room=60)
    trial = " (by trial)" if tried.told_by == "trial" else ""
    lines = [f"{mark}  {tried.rule} {tried.name}  {place}{trial}: {escape(relative_to_here(tried.why))}"]
    for edit in tried.edits:
        lines += [f"          {escape(line)}" for line in changed_lines(edit)]
    lines += [f"          {escape(text)}" for text in tried.differences[1:]]
    return "\n".join(lines)


def _by_hand(result: Fix) -> tuple[Finding, ...]:
    left = result.after.findings if result.after is not None else result.before.findings
    return left[:MOST_BY_HAND]


def _what_to_do(finding: Finding) -> str:
    lines = [f"  {finding.rule} {finding.name}: {escape(relative_to_here(finding.message))}"]
    cut = ", ".join(f"`{each.name}` ({place_of(each.file, each.line, room=40) or 'no line'})" for each in finding.cut)
    if cut:
        lines.append(f"    to free   drop {escape(cut)}")
    if finding.remedies:
        lines.append(f"    remedy    {escape(finding.remedies[0].summary)}")
    return "\n".join(lines)


def _as_dict(result: Fix) -> dict[str, object]:
    return {
        "format": FORMAT,
        "program": result.program,
        "verified": result.verified,
        "patch": result.patch,
        "before": _figures_as_dict(result.before),
        "after": _figures_as_dict(result.after) if result.after is not None else None,
        "parameters_equal": result.parameters_equal,
        "outputs_equal": result.outputs_equal,
        "deterministic": result.deterministic,
        "edits": [asdict(each) for each in result.edits],
        "runs": result.num_runs,
        "notes": list(result.notes),
        "compared": list(result.compared),
        "not_compared": list(result.not_compared),
    }


def _figures_as_dict(figures: Figures) -> dict[str, object]:
    return {
        "steps": figures.steps,
        "peak_bytes": figures.peak_bytes,
        "growth_bytes_per_step": figures.growth_bytes_per_step,
        "alive_bytes": figures.alive_bytes,
        "num_alive": figures.num_alive,
        "step_seconds": figures.step_seconds,
        "largest_batch": figures.largest_batch,
        "largest_batch_most": figures.largest_batch_most,
        "samples_per_second": figures.samples_per_second,
        "findings": [finding_as_dict(each) for each in figures.findings],
    }
