"""`tenure advise`: which settings of torch's allocator would have reserved less."""

from __future__ import annotations

import json
import sys

import click

from tenure.cli.recorded_snapshot import read_snapshot_of
from tenure.cli.snapshot import FORMAT
from tenure.errors import UsageError


@click.command("advise", short_help="Allocator settings that would have reserved less, by replay.")
@click.argument("file", metavar="FILE|DIR", type=click.Path(path_type=str))
@click.option("--try", "texts", multiple=True, metavar="SETTINGS", help="Try these settings instead; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def advise_command(file: str, texts: tuple[str, ...], as_json: bool) -> int:
    """Play the requests in a snapshot of torch's under other allocator settings.

    Of a recording the newest copy of the allocator's record is read; of several ranks that of the fullest device.
    Needs neither torch nor a device. Tried are expandable segments, a largest size to split, roundings and larger
    segments; settings that do nothing or harm each other are refused.
    """
    from tenure.allocator.advisor import CANDIDATES, advise, conflict_in
    from tenure.allocator.replay import replay_snapshot
    from tenure.allocator.settings import parse_settings
    from tenure.report.advice import advice_as_dict, render_advice
    from tenure.report.terminal import terminal_form

    for text in texts:
        conflict = conflict_in(parse_settings(text))
        if conflict:
            raise UsageError(f"{text}: {conflict}")
    read = read_snapshot_of(file)
    snapshot = read.snapshot
    told = []
    width, _, ascii_only = terminal_form(sys.stdout)
    for device in snapshot.devices:
        replay, advice = replay_snapshot(snapshot, device), advise(snapshot, device, texts or CANDIDATES)
        owners = [owner for (of, _), owner in read.owners.items() if of == device]
        if as_json:
            told.append(advice_as_dict(advice, replay, owners))
        else:
            text = render_advice(advice, replay, owners, read.where, width=width, ascii_only=ascii_only)
            click.echo(text, nl=False)
    if as_json:
        print(json.dumps({"format": FORMAT, "copy": read.where or None, **told[0], "devices": told}))
    return 0
