"""`tenure snapshot`: a memory snapshot of torch's: when it was how full, who asked for it, and whether it replays."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.model.allocator import Snapshot

FORMAT = 1


@click.command("snapshot", short_help="A memory snapshot of torch's: how full, who, when.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def snapshot_command(file: str, as_json: bool) -> int:
    """Read a file of torch.cuda.memory._dump_snapshot, and play its events on a simulated allocator.

    Needs neither torch nor a device. No code in the file is run.
    """
    from tenure.allocator.at_peak import composition
    from tenure.allocator.replay import replay_snapshot
    from tenure.allocator.unused import unused_at_end
    from tenure.report.snapshot import render_snapshot, snapshot_as_dict
    from tenure.report.terminal import terminal_form

    snapshot = snapshot_in(file)
    told = []
    width, _, ascii_only = terminal_form(sys.stdout)
    for device in snapshot.devices:
        replay = replay_snapshot(snapshot, device)
        parts, unused = composition(snapshot, replay), unused_at_end(snapshot, device)
        if as_json:
            told.append(snapshot_as_dict(snapshot, replay, parts, unused))
        else:
            click.echo(render_snapshot(snapshot, replay, parts, unused, width=width, ascii_only=ascii_only), nl=False)
    if as_json:
        print(json.dumps({"format": FORMAT, **told[0], "devices": told}))
    return 0


def snapshot_in(file: str) -> Snapshot:
    """The snapshot in a file; UsageError where it tells of no device."""
    from tenure.store.torch_snapshot import read_snapshot

    snapshot = read_snapshot(file)
    if not snapshot.devices:
        raise UsageError(f"{file}: the snapshot has neither segments nor events; was anything allocated on a device?")
    return snapshot
