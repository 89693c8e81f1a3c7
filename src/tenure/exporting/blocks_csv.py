"""The allocator's blocks with their owners, as CSV: the last copy of each process's record."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from tenure.analysis.watching.owned_blocks import census_of_the_moment, find_owners
from tenure.errors import RecordingError
from tenure.exporting.process_rows import name_of
from tenure.model.live_block import OwnedBlock
from tenure.model.recording import Recording
from tenure.store.recording_file import list_recordings, open_recording, read_census
from tenure.store.torch_snapshot import read_snapshot

HEADER = ("process", "rank", "step", "reason", "device", "address", "bytes", "requested_bytes", "waits")
OWNER = ("owner", "role", "path", "file", "line", "function")


def find_copies(folder: str) -> dict[str, Recording]:
    """The recordings of a run that have a copy of the allocator's record, by name. RecordingError where none has."""
    opened = {name_of(folder, path): open_recording(path) for path in list_recordings(folder)}
    found = {name: recording for name, recording in opened.items() if recording.histories}
    if not found:
        raise RecordingError(
            f"{folder} has no copy of a device allocator's record: none is made on the CPU, else where memory runs out "
            "or with `tenure run --allocator-history`"
        )
    return found


def write_blocks(recordings: dict[str, Recording], stream: TextIO) -> int:
    """Write a line for each block in use, heaviest first, and give back their number."""
    writer, count = csv.writer(stream, lineterminator="\n"), 0
    writer.writerow((*HEADER, *OWNER))
    for name, recording in recordings.items():
        for row in _rows(recording, name):
            writer.writerow(row)
            count += 1
    return count


def _rows(recording: Recording, name: str) -> Iterator[tuple[object, ...]]:
    history = recording.histories[-1]
    entry = census_of_the_moment(history, recording.censuses)
    census = read_census(recording, entry) if entry is not None else None
    snapshot = read_snapshot(Path(recording.path) / history.file)
    whose = (name, recording.process.get("rank"), history.step, history.reason)
    for owned in find_owners(snapshot, census):
        yield (*whose, *_block(owned), *_owner(owned))


def _block(block: OwnedBlock) -> tuple[object, ...]:
    return (block.device, f"{block.address:#x}", block.num_bytes, block.requested_bytes, int(block.waits))


def _owner(block: OwnedBlock) -> tuple[object, ...]:
    kind = {"native": "native owner"}.get(block.owner, block.owner)
    frame = block.frame
    place = (frame.file, frame.line, frame.function) if frame is not None else (None, None, None)
    return (kind, block.role, " -> ".join(block.path), *place)
