"""The diagnosis of a recording that is being written, in a process of its own: the screen never waits for it.

It runs at a lower priority, writes nothing, and leaves copies of the program that wait for experiments alone.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

from tenure.errors import RecordingError
from tenure.model.finding import Diagnosis

NICENESS = 10


async def find(folder: str) -> Diagnosis:
    """The findings so far; about a second per ten censuses. RecordingError in one line where it failed.

    The process has our own module path, for a file of the user's in the working folder may be named like a library.
    Where the caller is cancelled the process is ended.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        f"import sys; sys.path[:] = {sys.path!r}; from tenure.live.findings_apart import main; main()",
        folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        lines = err.decode("utf-8", "replace").strip().splitlines()
        raise RecordingError(lines[-1] if lines else f"the diagnosis ended with {process.returncode}")
    from tenure.report.json import diagnosis_from_json

    return diagnosis_from_json(out.decode("utf-8"), source=folder)


def main() -> None:
    """Print the findings of the recording that is named on the command line, as JSON."""
    from tenure.diagnose import diagnose_process
    from tenure.report.json import diagnosis_as_json
    from tenure.store.recording_file import open_recording

    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    try:
        diagnosis = diagnose_process(open_recording(sys.argv[1]), ask_copies=False)
    except RecordingError as error:
        sys.exit(str(error))
    sys.stdout.write(diagnosis_as_json(diagnosis))
