"""`tenure watch`: what a recording says so far, while its program runs or afterwards; a dashboard in a terminal."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from tenure.cli.watch_process import find_folder, is_process
from tenure.errors import RecordingError, UsageError
from tenure.model.finding import Diagnosis
from tenure.model.outlook import RunOutlook
from tenure.model.ranks import RankComparison
from tenure.model.recording import Recording
from tenure.store.format import CENSUS_WANTED_FILE

FORMAT = 1
MOST_SHOWN = 8
"""Processes; of more ranks only the first and those that differ are shown one by one."""
CLEAR = "\033[H\033[2J"

Look = Callable[[Recording, RunOutlook], Diagnosis | None]


@click.command("watch", short_help="A run's memory live: roles, growth, findings, when it ends.")
@click.argument("folder", metavar="DIR|PID", type=click.Path(path_type=str))
@click.option("--once", is_flag=True, help="Print what is known as text and end, as where stdout is no terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.5),
    metavar="SECONDS",
    help="Print the text again so often until the run is over or Ctrl-C.",
)
@click.option("--census", is_flag=True, help="Have the running program take a census at its next step's end.")
@click.option("--no-findings", is_flag=True, help="Text without findings, which take a second per ten censuses.")
def watch_command(folder: str, once: bool, as_json: bool, every: float | None, census: bool, no_findings: bool) -> int:
    """Show the run recorded in DIR, or by process PID: memory by role, growth, findings, and when memory runs out.

    In a terminal this is a dashboard that follows the run: q quits, c asks for a census, r chooses the rank, f opens
    the findings. Elsewhere, and with an option, it is text.
    """
    if is_process(folder):
        folder = find_folder(int(folder))
    if census:
        _ask_for_census(folder)
    elif not (once or as_json or no_findings or every is not None) and _is_for_a_screen():
        return _watch_on_screen(folder)
    look = _no_findings if no_findings else _findings_so_far()
    while True:
        outlooks, found, ranks = _read(folder, look)
        _print(outlooks, found, ranks, as_json=as_json, again=every is not None)
        if every is None or all(map(_is_over, outlooks)):
            return 0
        time.sleep(every)


def _is_over(outlook: RunOutlook) -> bool:
    """Whether nothing more can come: it has an end, or its process is gone without one."""
    return outlook.end is not None or outlook.running is False


def _is_for_a_screen() -> bool:
    """Whether somebody sits before a terminal that can be drawn on; Textual draws on the error stream."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if os.environ.get("TERM", "dumb") == "dumb" or not all(stream.isatty() for stream in streams):
        return False
    try:
        "▁█·".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _watch_on_screen(folder: str) -> int:
    from tenure.store.recording_file import list_recordings

    list_recordings(folder)  # a folder that is not there is one line, not a screen
    try:
        from tenure.live.dashboard import watch_on_screen
    except ImportError as error:
        raise UsageError(
            f"the dashboard needs the package {error.name}; pip install textual, or see `tenure watch --once {folder}`"
        ) from None
    watch_on_screen(folder)
    return 0


def _no_findings(recording: Recording, outlook: RunOutlook) -> None:
    return None


def _findings_so_far() -> Look:
    """Made with copies of the program left alone, as on the dashboard."""
    from tenure.diagnose import diagnose_process
    from tenure.live.findings_due import FindingsSoFar

    return FindingsSoFar(lambda recording: diagnose_process(recording, ask_copies=False)).look


def _read(folder: str, look: Look) -> tuple[list[RunOutlook], list[Diagnosis | None], RankComparison | None]:
    """Each process, of many ranks some, with what `look` finds in it; and the ranks beside each other."""
    from tenure.analysis.watching.outlook import read_outlook
    from tenure.analysis.watching.ranks import compare_ranks
    from tenure.live.running import is_running
    from tenure.store.recording_file import list_recordings, open_recording

    paths = list_recordings(folder)
    if not paths:
        raise RecordingError(f"{folder} holds no recording yet; a program records from its first step on")
    ranks = compare_ranks(map(open_recording, paths)) if len(paths) > 1 else None
    shown = paths if ranks is None or len(paths) <= MOST_SHOWN else _choose(ranks)
    outlooks, found = [], []
    for each in map(open_recording, shown):
        outlook = read_outlook(each)
        outlooks.append(replace(outlook, running=is_running(each.process) if each.end is None else None))
        found.append(look(each, outlook))
    return outlooks, found, ranks


def _choose(ranks: RankComparison) -> list[str]:
    """The first rank, and of those that differ some."""
    some = {ranks.runs[0].rank, *ranks.differing[: MOST_SHOWN - 1]}
    return [run.path for run in ranks.runs if run.rank in some]


def _ask_for_census(folder: str) -> None:
    """Leave a file for each process that has not ended. UsageError where none is left, or it cannot be written."""
    from tenure.live.running import is_running
    from tenure.store.recording_file import list_recordings, open_recording

    recordings = map(open_recording, list_recordings(folder))
    running = [each.path for each in recordings if each.end is None and is_running(each.process) is not False]
    if not running:
        raise UsageError(f"{folder}: its run is over, so no census can be taken any more")
    try:
        for path in running:
            Path(path, CENSUS_WANTED_FILE).touch()
    except OSError as error:
        raise UsageError(f"cannot ask for a census in {folder}: {error.strerror or error}") from error
    whom = "1 process" if len(running) == 1 else f"{len(running)} processes"
    click.echo(f"tenure: asked {whom} for a census; it comes with the next step", err=True)


def _print(
    outlooks: list[RunOutlook],
    found: list[Diagnosis | None],
    ranks: RankComparison | None,
    *,
    as_json: bool,
    again: bool,
) -> None:
    from tenure.report.outlook import render_outlook, render_rows
    from tenure.report.ranks import render_ranks
    from tenure.report.terminal import terminal_form

    if as_json:
        print(json.dumps(_as_dict(outlooks, found, ranks)))
        return
    from tenure.live.lines import findings_rows

    width, color, ascii_only = terminal_form(sys.stdout)
    blocks = [] if ranks is None else [render_ranks(ranks, width=width, ascii_only=ascii_only)]
    for outlook, diagnosis in zip(outlooks, found, strict=True):
        rows = [] if diagnosis is None else findings_rows(diagnosis)
        told = render_rows(rows, width=width, ascii_only=ascii_only) if rows else ""
        blocks.append(render_outlook(outlook, width=width, ascii_only=ascii_only) + told)
    text = "\n".join(blocks)
    sys.stdout.write((CLEAR if again and color else "") + text)
    sys.stdout.flush()


def _as_dict(
    outlooks: list[RunOutlook], found: list[Diagnosis | None], ranks: RankComparison | None
) -> dict[str, object]:
    """`findings` of a process are null where none were looked for."""
    from tenure.report.json import diagnosis_as_dict
    from tenure.report.outlook import outlook_as_dict
    from tenure.report.ranks import ranks_as_dict

    processes = [
        outlook_as_dict(outlook) | {"findings": None if each is None else diagnosis_as_dict(each)["findings"]}
        for outlook, each in zip(outlooks, found, strict=True)
    ]
    return {"format": FORMAT, "processes": processes} | ({} if ranks is None else {"ranks": ranks_as_dict(ranks)})
