"""`tenure snapshot`: memory snapshots of torch's, one or one of each rank: what happened, and what would help."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenure.cli.recorded_snapshot import ReadSnapshot, is_one_recording, read_snapshot_of, snapshot_in

if TYPE_CHECKING:
    from tenure.allocator.ranks import RankSummary
    from tenure.report.snapshot import Told

FORMAT = 1


@click.command("snapshot", short_help="A memory snapshot of torch's: how full, who, when.")
@click.argument("file", metavar="FILE|DIR", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def snapshot_command(file: str, as_json: bool) -> int:
    """Read a file of torch.cuda.memory._dump_snapshot, and play its events on a simulated allocator.

    Of a folder with a file for each rank (torchtitan, Composer) the newest moment's ranks are compared; of a recording
    the newest copy is read, with the names that hold its blocks. Needs neither torch nor a device. No code in the file
    is run.
    """
    if Path(file).is_dir() and not is_one_recording(file):
        return _tell_ranks(file, as_json=as_json)
    from tenure.report.snapshot import render_snapshot, snapshot_as_dict
    from tenure.report.terminal import terminal_form

    read = read_snapshot_of(file)
    found = [told_of(read, device) for device in read.snapshot.devices]
    if as_json:
        dicts = list(map(snapshot_as_dict, found))
        print(json.dumps({"format": FORMAT, "copy": read.where or None, **dicts[0], "devices": dicts}))
        return 0
    width, _, ascii_only = terminal_form(sys.stdout)
    for told in found:
        click.echo(render_snapshot(told, width=width, ascii_only=ascii_only), nl=False)
    return 0


def _tell_ranks(folder: str, *, as_json: bool) -> int:
    """The ranks of a folder's newest moment beside each other."""
    from tenure.allocator.ranks import compare
    from tenure.report.rank_snapshots import ranks_compared_as_dict, render_ranks_compared
    from tenure.report.terminal import terminal_form
    from tenure.store.rank_snapshots import rank_snapshots

    found = rank_snapshots(folder)
    compared = compare([_summary(rank, str(file)) for rank, file in found.files.items()])
    if as_json:
        print(json.dumps({"format": FORMAT, **ranks_compared_as_dict(compared, found.moment)}))
        return 0
    width, _, ascii_only = terminal_form(sys.stdout)
    text = render_ranks_compared(compared, found.moment, found.num_others, width=width, ascii_only=ascii_only)
    click.echo(text, nl=False)
    return 0


def _summary(rank: int, file: str) -> RankSummary:
    """One rank's snapshot, of the device that it used most."""
    from tenure.allocator.ranks import summary_of
    from tenure.allocator.replay import replay_snapshot
    from tenure.allocator.story import story_of
    from tenure.report.stack_line import stack_line

    snapshot = snapshot_in(file)
    replays = [replay_snapshot(snapshot, device) for device in snapshot.devices]
    replay = max(replays, key=lambda each: each.active.bytes)
    return summary_of(rank, snapshot, replay, story_of(snapshot, replay), lambda stack: stack_line(snapshot, stack))


def told_of(read: ReadSnapshot, device: int) -> Told:
    """All that a snapshot tells of one device."""
    from tenure.allocator.at_peak import composition, phases_by_step
    from tenure.allocator.leaks import leaks_of
    from tenure.allocator.out_of_memory import out_of_memory_in
    from tenure.allocator.pins import fragmentation_of
    from tenure.allocator.replay import replay_snapshot
    from tenure.allocator.story import story_of
    from tenure.allocator.timeline import timeline_of
    from tenure.allocator.unused import unused_at_end
    from tenure.report.snapshot import Told

    snapshot = read.snapshot
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
        timeline=timeline_of(snapshot, device, story.lives),
        fragmentation=fragmentation_of(snapshot, replay, story),
        out_of_memory=out_of_memory_in(snapshot, replay, story),
        owners={address: owner for (of, address), owner in read.owners.items() if of == device},
    )
