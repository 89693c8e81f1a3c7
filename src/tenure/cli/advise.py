"""`tenure advise`: which settings of torch's allocator would have reserved less."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenure.cli.recorded_snapshot import is_recording, read_snapshot_of, snapshot_in
from tenure.cli.snapshot import FORMAT
from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.allocator.advisor import Advice
    from tenure.model.allocator import Snapshot
    from tenure.report.advice import AdvisedRank


@click.command("advise", short_help="Allocator settings that would have reserved less, by replay.")
@click.argument("file", metavar="FILE|DIR", type=click.Path(path_type=str))
@click.option("--try", "texts", multiple=True, metavar="SETTINGS", help="Try these settings instead; may be repeated.")
@click.option("--memory", metavar="SIZE", help="The device's memory, as 80GiB: retries and refusals are told then.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def advise_command(file: str, texts: tuple[str, ...], memory: str | None, as_json: bool) -> int:
    """Play the requests in a snapshot of torch's under other allocator settings.

    Of a folder with a file for each rank the settings that serve all of the newest moment's are told; of a recording
    the newest copy of the allocator's record is read, of several ranks that of the fullest device. Needs neither torch
    nor a device. Tried are expandable segments, a largest size to split, roundings and larger segments, with --memory
    thresholds for collecting too; settings that do nothing or harm each other are refused.
    """
    from tenure.allocator.advisor import advise, conflict_in
    from tenure.allocator.replay import replay_snapshot
    from tenure.allocator.settings import parse_settings
    from tenure.report.advice import advice_as_dict, render_advice
    from tenure.report.terminal import terminal_form

    for text in texts:
        conflict = conflict_in(parse_settings(text))
        if conflict:
            raise UsageError(f"{text}: {conflict}")
    total = None if memory is None else _bytes_of(memory)
    if Path(file).is_dir() and not is_recording(file):
        return _advise_ranks(file, texts, total, as_json=as_json)
    read = read_snapshot_of(file)
    snapshot = read.snapshot
    _refuse_what_changes_nothing(texts, snapshot)
    told = []
    width, _, ascii_only = terminal_form(sys.stdout)
    for device in snapshot.devices:
        replay, advice = replay_snapshot(snapshot, device), advise(snapshot, device, texts or None, total)
        owners = [owner for (of, _), owner in read.owners.items() if of == device]
        if as_json:
            told.append(advice_as_dict(advice, replay, owners))
        else:
            text = render_advice(advice, replay, owners, read.where, width=width, ascii_only=ascii_only)
            click.echo(text, nl=False)
    if as_json:
        print(json.dumps({"format": FORMAT, "copy": read.where or None, **told[0], "devices": told}))
    return 0


def _bytes_of(memory: str) -> int:
    from tenure.model.units import parse_memory

    try:
        return parse_memory(memory)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None


def _refuse_what_changes_nothing(texts: tuple[str, ...], snapshot: Snapshot) -> None:
    from tenure.allocator.advisor import comes_to
    from tenure.allocator.settings import parse_settings, settings_of_snapshot

    own = settings_of_snapshot(snapshot.settings)
    for text in texts:
        if comes_to(parse_settings(text), own):
            raise UsageError(f"{text}: changes nothing: the snapshot was recorded with what this comes to")


def _advise_ranks(folder: str, texts: tuple[str, ...], total: int | None, *, as_json: bool) -> int:
    """Settings for all ranks of a folder's newest moment."""
    from tenure.allocator.advisor import advise_together
    from tenure.report.advice import advice_of_ranks_as_dict, render_advice_of_ranks
    from tenure.report.terminal import terminal_form
    from tenure.store.rank_snapshots import rank_snapshots

    found = rank_snapshots(folder)
    each = [_advice_of_rank(rank, str(file), texts, total) for rank, file in found.files.items()]
    advice, ranks = advise_together([one for one, _ in each]), [rank for _, rank in each]
    if as_json:
        print(json.dumps({"format": FORMAT, **advice_of_ranks_as_dict(advice, ranks, found.moment)}))
        return 0
    width, _, ascii_only = terminal_form(sys.stdout)
    click.echo(render_advice_of_ranks(advice, ranks, found.moment, width=width, ascii_only=ascii_only), nl=False)
    return 0


def _advice_of_rank(rank: int, file: str, texts: tuple[str, ...], total: int | None) -> tuple[Advice, AdvisedRank]:
    """One rank's, for the device that it used most."""
    from tenure.allocator.advisor import advise
    from tenure.allocator.replay import replay_snapshot
    from tenure.report.advice import AdvisedRank

    snapshot = snapshot_in(file)
    _refuse_what_changes_nothing(texts, snapshot)
    replay = max((replay_snapshot(snapshot, device) for device in snapshot.devices), key=lambda one: one.active.bytes)
    advice = advise(snapshot, replay.device, texts or None, total)
    return advice, AdvisedRank(rank, replay.reserved.bytes, advice.floor_bytes, replay)
