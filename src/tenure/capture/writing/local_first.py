"""Recordings on a network file system: written to a disk of this machine first."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from tenure.capture.system.file_systems import network_file_system
from tenure.store.staging import Staging


def stage(target: Path) -> Staging | None:
    """A folder in the system's temporary one for a recording that belongs to `target`; None where `target` is on a
    disk of this machine, or nothing else is."""
    if network_file_system(target) is None:
        return None
    import tempfile

    with suppress(OSError):
        if network_file_system(Path(tempfile.gettempdir())) is None:
            return Staging(Path(tempfile.mkdtemp(prefix="tenure-recording-")), target)
    return None


def finish_staging(staging: Staging) -> None:
    """Copy all and leave nothing behind; where it cannot be copied, say in one line where it lies."""
    try:
        staging.finish()
    except OSError as error:
        text = f"the recording could not be copied to {staging.target} ({error.strerror or error})"
        with suppress(Exception):
            print(f"tenure: {text}; it lies in {staging.local}", file=sys.stderr)
