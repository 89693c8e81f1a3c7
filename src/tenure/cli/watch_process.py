"""Which recording is a running process's: read from the environment that it was started with.

No file of ours tells it: the environment is there as long as the process is, and never stale. What records from its
own code (`tenure.record`) has nothing in it, and is named by its folder.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tenure.capture.writing.folders import RECORDING_VARIABLE
from tenure.errors import RecordingError, UsageError
from tenure.store.format import PROCESS_FILE

if TYPE_CHECKING:
    import psutil


def is_process(text: str) -> bool:
    """Whether a process is meant and no folder: a number, and nothing of that name is here."""
    return text.isdigit() and not Path(text).exists()


def find_folder(pid: int) -> str:
    """The process's own recording, or that of the run which it or its children belong to.

    A process that was not started with us is attached to where this Python can; UsageError in one line where there is
    no such process, it is another user's, or it is none of ours.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        folder = next(_run_folders(process), None)
    except psutil.NoSuchProcess:
        raise UsageError(f"there is no process {pid} here; name the folder that `tenure run` writes") from None
    except psutil.AccessDenied:
        raise UsageError(f"process {pid} is another user's; name the folder that its run writes") from None
    return _attach(process) if folder is None else _own_folder(folder, pid)


def _run_folders(process: psutil.Process) -> Iterator[str]:
    """Of the process, then of its children: it may be `tenure run` itself, or a shell around it."""
    import psutil

    own = process.environ().get(RECORDING_VARIABLE)
    if own:
        yield own
    for child in process.children(recursive=True):
        try:
            found = child.environ().get(RECORDING_VARIABLE)
        except (psutil.Error, OSError):
            continue
        if found:
            yield found


def _own_folder(run_folder: str, pid: int) -> str:
    """The folder that this process writes; the run's where it writes none, as a launcher."""
    from tenure.store.recording_file import list_recordings

    try:
        paths = list_recordings(run_folder)
    except RecordingError:
        raise UsageError(f"process {pid} recorded into {run_folder}, which is gone") from None
    return next((path for path in paths if _pid_of(path) == pid), run_folder)


def _pid_of(path: str) -> int | None:
    try:
        process = json.loads(Path(path, PROCESS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return process.get("pid") if isinstance(process, dict) else None


def _attach(process: psutil.Process) -> str:
    from tenure.live.attaching import attach, can_attach
    from tenure.store.new_folder import name_recording

    if not can_attach():
        version = ".".join(map(str, sys.version_info[:2]))
        raise UsageError(
            f"process {process.pid} was not started by `tenure run`, and Python {version} cannot look into a running "
            f"program (3.14 can); start it again as: {start_again(process.cmdline())}"
        )
    folder = Path(name_recording(f"process-{process.pid}"))
    print(f"tenure: process {process.pid} is recorded from now on, into {folder}", file=sys.stderr)
    return str(attach(process.pid, folder))


def start_again(command: Sequence[str]) -> str:
    """How a person records the same from its start: Python's own script or module by itself, all else as a command."""
    executable, *arguments = command or ("python", "train.py")
    is_python = Path(executable).name.startswith(("python", "pypy"))
    by_itself = is_python and arguments and (arguments[0] in ("-m", "-c") or not arguments[0].startswith("-"))
    return f"tenure run {shlex.join(arguments)}" if by_itself else f"tenure run -- {shlex.join(command)}"
