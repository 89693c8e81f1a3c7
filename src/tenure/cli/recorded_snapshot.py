"""The snapshot that a command is to read: a file, or the newest copy of the allocator's record in a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.model.allocator import Snapshot
    from tenure.model.live_block import OwnedBlock
    from tenure.model.recording import Recording


@dataclass(frozen=True)
class ReadSnapshot:
    """`owners` has the blocks in use at its end by device and address, where a census of the moment names them; `where`
    says which copy of a recording it is, "" of a file."""

    snapshot: Snapshot
    owners: Mapping[tuple[int, int], OwnedBlock] = field(default_factory=dict)
    where: str = ""


def read_snapshot_of(path: str) -> ReadSnapshot:
    """The snapshot in a file, or of a recording that of its fullest device. UsageError where there is none."""
    if not Path(path).is_dir():
        return ReadSnapshot(snapshot_in(path))
    copies = _copies(path)
    if not copies:
        raise UsageError(
            f"{path}: no copy of a device allocator's record in this folder; "
            "`tenure run --allocator-history 100000` makes one, or name a snapshot's file"
        )
    found = [(recording, snapshot_in(str(_file(recording)))) for recording in copies]
    recording, snapshot = max(found, key=lambda each: int(each[1].segments.bytes.sum()))
    return _with_owners(recording, snapshot)


def is_one_recording(path: str) -> bool:
    """Whether a folder is a recording in which one process has copied its allocator's record."""
    return Path(path).is_dir() and len(_copies(path)) == 1


def is_recording(path: str) -> bool:
    """Whether a folder is a recording, of one process or several."""
    from tenure.store.recording_file import list_recordings

    return bool(list_recordings(path))


def snapshot_in(file: str) -> Snapshot:
    """The snapshot in a file; UsageError where it tells of no device."""
    from tenure.store.torch_snapshot import read_snapshot

    snapshot = read_snapshot(file)
    if not snapshot.devices:
        raise UsageError(f"{file}: the snapshot has neither segments nor events; was anything allocated on a device?")
    return snapshot


def _copies(path: str) -> list[Recording]:
    from tenure.store.recording_file import list_recordings, open_recording

    return [each for each in map(open_recording, list_recordings(path)) if each.histories]


def _file(recording: Recording) -> Path:
    return Path(recording.path) / recording.histories[-1].file


def _with_owners(recording: Recording, snapshot: Snapshot) -> ReadSnapshot:
    from tenure.analysis.watching.owned_blocks import census_of_the_moment, find_owners
    from tenure.store.recording_file import read_census

    history = recording.histories[-1]
    rank = recording.process.get("rank")
    where = f"{'' if rank is None else f'rank {rank}, '}step {history.step:,}, {history.reason}"
    entry = census_of_the_moment(history, recording.censuses)
    if entry is None:
        return ReadSnapshot(snapshot, {}, where)
    owned = find_owners(snapshot, read_census(recording, entry))
    return ReadSnapshot(snapshot, {(each.device, each.address): each for each in owned}, where)
