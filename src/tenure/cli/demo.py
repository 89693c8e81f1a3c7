"""`tenure demo`: four small programs with a leak, each run as it is and with its remedy, side by side."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from tenure.errors import UsageError
from tenure.model.units import format_bytes
from tenure.report.layout import wrap

DEMOS_FOLDER = Path(__file__).resolve().parent.parent / "demos"
HELPED = "with_tenure"
"""The folder of the programs whose remedy is a call of Tenure's."""
_ABOVE_POSSIBLE = ("certain", "likely")
_MEASURED = re.compile(r"^measured: (\d+) bytes in (\d+) storages.*?([+-]\d+) bytes per step", re.MULTILINE)


@dataclass(frozen=True)
class Demo:
    """One program and what is known of its leak: the rules that name it and who holds on.

    `helper` names the same program with the remedy as a call of Tenure's; "" where there is none.
    """

    name: str
    rules: tuple[str, ...]
    holders: tuple[str, ...]
    helper: str = ""


DEMOS = (
    Demo("retval_over_forward", ("TN102",), ("retval", "loss"), helper="retval_scoped"),
    Demo("losses_kept_on_device", ("TN201",), ("losses", "grad_norms"), helper="losses_metered"),
    Demo("metric_deepcopied", ("TN301", "TN402"), ("snapshot", "update", "compute", "self"), helper="metric_computed"),
    Demo(
        "text_encoder_unloaded",
        ("TN401",),
        ("text_encoder", "components", "offloadable_blocks"),
        helper="text_encoder_released",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What one run of a program printed of itself, and what Tenure said; `error` when it could not be run."""

    peak_bytes: int | None = None
    storages: int | None = None
    growth_bytes: int | None = None
    findings: tuple[dict[str, Any], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Comparison:
    """A program's runs, and what is wrong with what was found (nothing when `problems` is empty)."""

    demo: Demo
    leaky: Outcome
    fixed: Outcome
    found: dict[str, Any] | None = None
    problems: tuple[str, ...] = field(default=())
    helped: Outcome | None = None
    """The run with the remedy as a call of Tenure's."""


def read_measured(output: str) -> tuple[int, int, int] | None:
    """Bytes, storages and growth from the line that a demo program prints of itself; None without one."""
    match = _MEASURED.search(output)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def compare_runs(demo: Demo, leaky: Outcome, fixed: Outcome, helped: Outcome | None = None) -> Comparison:
    """Judge the runs: the leak must be found by its rule with its holder, those with a remedy must be silent."""
    mended = [("fixed", fixed), *([("helped", helped)] if helped is not None else [])]
    problems = [f"{which}: {run.error}" for which, run in (("leaky", leaky), *mended) if run.error]
    found = next((finding for finding in loud(leaky.findings) if _is_the_leak(demo, finding)), None)
    if found is None and not leaky.error:
        said = ", ".join(f"{item['rule']} `{item['holder']['name']}`" for item in leaky.findings) or "nothing"
        problems.append(f"leaky: expected {' or '.join(demo.rules)} on {_either(demo.holders)}; found {said}")
    for which, run in mended:
        for finding in loud(run.findings):
            problems.append(f"{which}: not silent: {finding['rule']} {finding['message']}")
    return Comparison(demo, leaky, fixed, found, tuple(problems), helped)


def loud(findings: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """The findings that count as one: *certain* and *likely*."""
    return tuple(item for item in findings if item["confidence"] in _ABOVE_POSSIBLE)


def _is_the_leak(demo: Demo, finding: dict[str, Any]) -> bool:
    names = {finding["holder"]["name"], *(reference["name"] for reference in finding["cut"])}
    return finding["rule"] in demo.rules and not names.isdisjoint(demo.holders)


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(f"`{name}`" for name in names)


def run_demo(program: Path, recording: Path, *, fixed: bool) -> Outcome:
    """Run one program under `tenure run`, as a person would, and read what came of it."""
    command = [sys.executable, "-m", "tenure", "run", "-o", str(recording), str(program)]
    if fixed:
        command.append("--fixed")
    environment = {**os.environ, "TENURE": "1"}
    run = subprocess.run(command, cwd=program.parent, env=environment, capture_output=True, text=True, check=False)
    measured = read_measured(run.stdout)
    if run.returncode != 0 or measured is None:
        last_line = (run.stderr.strip() or run.stdout.strip() or "no output").splitlines()[-1]
        return Outcome(error=f"`tenure run` ended with exit code {run.returncode}: {last_line}")
    findings_file = recording / "findings.json"
    if not findings_file.is_file():
        return Outcome(*measured, error=f"`tenure run` left no {findings_file}")
    return Outcome(*measured, tuple(json.loads(findings_file.read_text())["findings"]))


def run_both(demo: Demo, folder: Path) -> Comparison:
    """A program's leaky and fixed run below `folder`, and the one with Tenure's own remedy where it has one."""
    program = folder / "programs" / f"{demo.name}.py"
    leaky = run_demo(program, folder / demo.name / "leaky", fixed=False)
    fixed = run_demo(program, folder / demo.name / "fixed", fixed=True)
    if not demo.helper:
        return compare_runs(demo, leaky, fixed)
    helper = folder / "programs" / HELPED / f"{demo.helper}.py"
    return compare_runs(demo, leaky, fixed, run_demo(helper, folder / demo.name / "helped", fixed=False))


def _run_and_say(demo: Demo, folder: Path) -> Comparison:
    click.echo(f"{demo.name}: running it, and then its remedy ...", err=True)
    return run_both(demo, folder)


def _count_cores() -> int:
    """Cores that this process may use: so many demos run at a time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def copy_programs(folder: Path) -> None:
    """Put the demo programs into `folder`/programs, as the user's own files to read and change."""
    target = folder / "programs"
    target.mkdir(parents=True, exist_ok=True)
    (target / HELPED).mkdir(exist_ok=True)
    for program in sorted((*DEMOS_FOLDER.glob("*.py"), *(DEMOS_FOLDER / HELPED).glob("*.py"))):
        shutil.copyfile(program, target / program.relative_to(DEMOS_FOLDER))


HEADINGS = ("program", "leaky", "fixed", "found")
CAPTION = "bytes: most alive at the start of a forward, measured by each program itself"


def draw_table(comparisons: list[Comparison], *, width: int) -> list[str]:
    """The runs side by side, or below each other where the terminal is too narrow for that."""
    rows = [table_cells(comparison) for comparison in comparisons]
    parts = [cell.splitlines() for row in (HEADINGS, *rows) for cell in row]
    widths = [max(len(line) for cell in parts[at :: len(HEADINGS)] for line in cell) for at in range(len(HEADINGS))]
    caption = wrap(CAPTION, width=width, first="", rest="")
    if sum(widths) + 3 * (len(widths) - 1) > width:
        return [line for row in rows for line in _draw_below(row)] + caption
    lines = [_join(HEADINGS, widths), "-" * (sum(widths) + 3 * (len(widths) - 1))]
    for row in rows:
        lines += [_join(cells, widths) for cells in zip_longest(*(cell.splitlines() for cell in row), fillvalue="")]
        lines.append("")
    return lines + caption


def _join(cells: Sequence[str], widths: list[int]) -> str:
    return "   ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _draw_below(row: Sequence[str]) -> list[str]:
    lines = [row[0]]
    for heading, cell in zip(HEADINGS[1:], row[1:], strict=True):
        lines.append(f"  {heading}  {cell.splitlines()[0]}")
        lines += [f"         {line}" for line in cell.splitlines()[1:]]
    return [*lines, ""]


def table_cells(comparison: Comparison) -> tuple[str, ...]:
    """One row of the table, as text."""
    found = comparison.found
    verdict = "-"
    if found is not None:
        place = f"{Path(found['holder']['file'] or '?').name}:{found['holder']['line'] or '?'}"
        where = place.replace(f"{comparison.demo.name}.py:", "line ")
        verdict = f"{found['rule']}, {found['confidence']}\n`{found['holder']['name']}`\n{where}"
    silent = "not run" if comparison.fixed.error else "not silent" if loud(comparison.fixed.findings) else "silent"
    leaky, fixed = (_measured_cell(run) for run in (comparison.leaky, comparison.fixed))
    helped = comparison.helped
    told = "" if helped is None or helped.peak_bytes is None else f"\nor by a call\n{format_bytes(helped.peak_bytes)}"
    return (comparison.demo.name, leaky, f"{fixed}\n{silent}{told}", verdict)


def _measured_cell(run: Outcome) -> str:
    if run.peak_bytes is None:
        return "?"
    growth = f"\n{run.growth_bytes:+d} B/step" if run.growth_bytes else ""
    return f"{format_bytes(run.peak_bytes)}\n{run.storages} tensors{growth}"


def _print_finding(recording: Path) -> None:
    """The first leak's report as `tenure report` prints it."""
    run = subprocess.run(
        [sys.executable, "-m", "tenure", "report", str(recording)],
        capture_output=True,
        text=True,
        check=False,
    )
    click.echo(run.stdout if run.stdout.strip() else run.stderr, nl=False)


def tell_of_fix(comparison: Comparison, output: Path | None, *, width: int) -> list[str]:
    """The command by which `tenure fix` proves the change that the report shows; nothing where it shows none.

    The programs are gone when the demo ends unless `output` keeps them, so that the command keeps them first.
    """
    remedies = (comparison.found or {}).get("remedies", ())
    if not any(remedy.get("edits") for remedy in remedies):
        return []
    program = f"programs/{comparison.demo.name}.py"
    command = f"tenure fix {output / program}" if output else f"tenure demo -o demo && tenure fix demo/{program}"
    said = "Proved before it is made: `tenure fix` runs the program as it is and with that change, and compares"
    return [*wrap(f"{said} memory, parameters and output.", width=width, first="", rest=""), f"  {command}"]


def as_json(comparisons: list[Comparison]) -> dict[str, Any]:
    """The same as `--json` prints it."""
    rows = [
        {
            "program": comparison.demo.name,
            "leaky_bytes": comparison.leaky.peak_bytes,
            "fixed_bytes": comparison.fixed.peak_bytes,
            "leaky_growth_bytes_per_step": comparison.leaky.growth_bytes,
            "fixed_growth_bytes_per_step": comparison.fixed.growth_bytes,
            "finding": comparison.found,
            "fixed_findings": len(loud(comparison.fixed.findings)),
            "helped_bytes": comparison.helped.peak_bytes if comparison.helped else None,
            "problems": list(comparison.problems),
        }
        for comparison in comparisons
    ]
    return {"format": 1, "programs": rows}


def _chosen(names: tuple[str, ...]) -> tuple[Demo, ...]:
    known = {demo.name: demo for demo in DEMOS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"no demo named {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else DEMOS


def _check_output(output: Path | None) -> None:
    if output is not None and output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} exists and is not an empty folder; name a new one with --output")


@click.command("demo", short_help="Four small leaks, each found and mended.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Keep programs and recordings in this new folder."
)
@click.option("--json", "json_output", is_flag=True, help="Print one JSON object instead of a table.")
def demo_command(names: tuple[str, ...], output: Path | None, json_output: bool) -> None:
    """Run four small programs that leak, each as it is and with its remedy, and compare.

    One program per core at a time. Takes about a minute and needs torch. Exit code 0: all leaks found, all fixed
    programs silent.
    """
    demos = _chosen(names)
    _check_output(output)
    scope = nullcontext(str(output)) if output else tempfile.TemporaryDirectory(prefix="tenure-demo-")
    with scope as where:
        folder = Path(where).resolve()
        copy_programs(folder)
        with ThreadPoolExecutor(max_workers=min(len(demos), _count_cores())) as pool:
            comparisons = list(pool.map(functools.partial(_run_and_say, folder=folder), demos))
        if json_output:
            click.echo(json.dumps(as_json(comparisons)))
        else:
            width = shutil.get_terminal_size((80, 24)).columns
            click.echo("\n".join(["", *draw_table(comparisons, width=width), ""]))
            if comparisons[0].found is not None:
                _print_finding(folder / demos[0].name / "leaky")
                for line in ["", *tell_of_fix(comparisons[0], output, width=width)]:
                    click.echo(line)
    problems = [f"{item.demo.name}: {text}" for item in comparisons for text in item.problems]
    for text in problems:
        click.echo(text, err=True)
    if problems:
        raise click.exceptions.Exit(1)
