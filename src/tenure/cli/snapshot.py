"""`tenure snapshot`: a memory snapshot of torch's: when it was how full, who asked for it, and whether it replays."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.model.allocator import Snapshot
    from tenure.report.snapshot import Told

FORMAT = 1


@click.command("snapshot", short_help="A memory snapshot of torch's: how full, who, when.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def snapshot_command(file: str, as_json: bool) -> int:
    """Read a file of torch.cuda.memory._dump_snapshot, and play its events on a simulated allocator.

    Needs neither torch nor a device. No code in the file is run.
    """
    from tenure.report.snapshot import render_snapshot, snapshot_as_dict
    from tenure.report.terminal import terminal_form

    snapshot = snapshot_in(file)
    found = [told_of(snapshot, device) for device in snapshot.devices]
    if as_json:
        dicts = list(map(snapshot_as_dict, found))
        print(json.dumps({"format": FORMAT, **dicts[0], "devices": dicts}))
        return 0
    width, _, ascii_only = terminal_form(sys.stdout)
    for told in found:
        click.echo(render_snapshot(told, width=width, ascii_only=ascii_only), nl=False)
    return 0


def told_of(snapshot: Snapshot, device: int) -> Told:
    """All that a snapshot tells of one device."""
    from tenure.allocator.at_peak import composition, phases_by_step
    from tenure.allocator.leaks import leaks_of
    from tenure.allocator.out_of_memory import out_of_memory_in
    from tenure.allocator.pins import fragmentation_of
    from tenure.allocator.replay import replay_snapshot
    from tenure.allocator.story import story_of
    from tenure.allocator.unused import unused_at_end
    from tenure.report.snapshot import Told

    replay = replay_snapshot(snapshot, device)
    story = story_of(snapshot, replay)
    return Told(
        snapshot=snapshot,
        replay=replay,
        story=story,
        peak=composition(snapshot, story, replay.active.event),
        by_step=phases_by_step(story),
        leaks=leaks_of(snapshot, story),
        unused=unused_at_end(snapshot, device),
        fragmentation=fragmentation_of(snapshot, replay, story),
        out_of_memory=out_of_memory_in(snapshot, replay, story),
    )


def snapshot_in(file: str) -> Snapshot:
    """The snapshot in a file; UsageError where it tells of no device."""
    from tenure.store.torch_snapshot import read_snapshot

    snapshot = read_snapshot(file)
    if not snapshot.devices:
        raise UsageError(f"{file}: the snapshot has neither segments nor events; was anything allocated on a device?")
    return snapshot
