"""`tenure watch`: what a recording's counters say so far, while its program runs or afterwards."""

from __future__ import annotations

import json
import sys
import time

import click

from tenure.errors import RecordingError
from tenure.model.outlook import RunOutlook

FORMAT = 1
CLEAR = "\033[H\033[2J"


@click.command("watch", short_help="Levels, growth and when memory runs out, so far.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.5),
    metavar="SECONDS",
    help="Look again so often until the run has ended or Ctrl-C.",
)
def watch_command(folder: str, as_json: bool, every: float | None) -> int:
    """Read the counters of the recording in DIR: each process's memory, its growth, and its forecast."""
    while True:
        outlooks = _read(folder)
        _print(outlooks, as_json=as_json, again=every is not None)
        if every is None or all(outlook.end is not None for outlook in outlooks):
            return 0
        time.sleep(every)


def _read(folder: str) -> list[RunOutlook]:
    from tenure.analysis.watching.outlook import read_outlook
    from tenure.store.recording_file import list_recordings, open_recording

    paths = list_recordings(folder)
    if not paths:
        raise RecordingError(f"{folder} holds no recording yet; a program records from its first step on")
    return [read_outlook(open_recording(path)) for path in paths]


def _print(outlooks: list[RunOutlook], *, as_json: bool, again: bool) -> None:
    from tenure.report.outlook import outlook_as_dict, render_outlook
    from tenure.report.terminal import terminal_form

    if as_json:
        print(json.dumps({"format": FORMAT, "processes": [outlook_as_dict(outlook) for outlook in outlooks]}))
        return
    width, color, ascii_only = terminal_form(sys.stdout)
    text = "\n".join(render_outlook(outlook, width=width, ascii_only=ascii_only) for outlook in outlooks)
    sys.stdout.write((CLEAR if again and color else "") + text)
    sys.stdout.flush()
