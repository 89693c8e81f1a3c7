"""Several launchers of one run, as under `torchrun -m tenure run`: where each records, and which of them reports."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from tenure.capture.system.ranks import Place
from tenure.errors import RecordingError, UsageError
from tenure.store.format import FINDINGS_FILE, PROCESS_FILE, name_process_folder
from tenure.store.new_folder import check_free, name_recording

OTHERS_SECONDS = 20.0
"""So long the launcher that reports waits for the other ranks to end."""
POLL_SECONDS = 0.1


def name_shared_recording(program: str, environment: Mapping[str, str] = os.environ) -> str:
    """One name for all ranks of a node: by the job where a scheduler names it, else by when their launcher began."""
    job = environment.get("SLURM_JOB_ID")
    if job:
        return f"recording-{Path(program).stem or 'python'}-job-{job}"
    return name_recording(program, at=_start_of_parent())


def check_free_for(rank: int, folder: Path, restart: int | None) -> None:
    """Raise UsageError where something lies in the way: anything but ranks of this run, or this rank of another one.

    A rank that comes again is one after a restart of torchrun's, or one that its launcher has outlived.
    """
    if not folder.is_dir() or not any(_is_foreign(child) for child in folder.iterdir()):
        earlier = find_own(folder, rank)
        if earlier is None or restart or (earlier / PROCESS_FILE).stat().st_mtime >= _start_of_parent():
            return
        raise UsageError(
            f"{folder} holds rank {rank} of an earlier run, and nothing is overwritten; name another with -o"
        )
    check_free(folder)


def find_own(folder: Path, rank: int) -> Path | None:
    """The newest recording of a rank; None where it has none."""
    name = name_process_folder(rank=rank, pid=0)
    found = [path.parent for path in folder.glob(f"{name}*/{PROCESS_FILE}")]
    return max(found, key=lambda path: (path / PROCESS_FILE).stat().st_mtime, default=None)


def wait_for_others(folder: Path, place: Place) -> None:
    """Return when all ranks have ended that can be seen from here, or after `OTHERS_SECONDS`."""
    until = time.monotonic() + OTHERS_SECONDS
    while time.monotonic() < until and any(_runs(folder, rank, place) for rank in range(place.world_size or 0)):
        time.sleep(POLL_SECONDS)


def _runs(folder: Path, rank: int, place: Place) -> bool:
    """Whether a rank that has recorded here still runs, as far as this machine knows."""
    import psutil

    from tenure.store.recording_file import open_recording

    own = find_own(folder, rank)
    if own is None or rank == place.rank:
        return False
    try:
        recording = open_recording(own)
    except RecordingError:
        return False
    near = recording.process.get("node") == place.node
    return recording.end is None and (not near or psutil.pid_exists(int(recording.process.get("pid", 0))))


def _is_foreign(child: Path) -> bool:
    return not child.name.startswith((".torch-imported-", FINDINGS_FILE, "rank-"))


def _start_of_parent() -> float:
    """Seconds since 1970 at which the process began that starts the ranks of this node."""
    import psutil

    return float(psutil.Process(os.getppid()).create_time())
