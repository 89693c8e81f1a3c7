"""The recording format in names and numbers: which files a recording has and what a row may be.

Standard library only: this is read in the user's process before anything else may be imported.
"""

from __future__ import annotations

FORMAT = 2
"""Raised when an older Tenure could no longer read what this one writes. Readers accept every lower number."""

PROCESS_FILE = "process.json"
ROWS_FILE = "rows-000001.jsonl"
STEPS, SAMPLES = "steps", "samples"
"""Rows that are many have files of their own: their newest in a tail of lines, the older in blocks of columns."""
BLOCK_ROWS = 8192
MISSING = -(1 << 63)
"""In a column: the row does not have this counter."""
MICROSECONDS = 1_000_000
SOURCES_FOLDER = "sources"
CENSUS_WANTED_FILE = ".census-wanted"
"""Put beside the rows by who wants a census now; taken away by the recorder, which then takes one."""
FINDINGS_FILE = "findings.json"

HEADER = "header"
STEP = "step"
CENSUS = "census"
NOTE = "note"
SOURCE = "source"
PHASE = "phase"
PROFILE = "profile"
PARAMETERS = "parameters"
HISTORY = "history"
END = "end"


def name_census_file(step: int, moment: str) -> str:
    """`census-000012.npz` at a step's end, `census-000012-entry.npz` at the forward that follows it."""
    suffix = {"step-end": "", "forward-entry": "-entry"}.get(moment, f"-{moment}")
    return f"census-{step:06d}{suffix}.npz"


def name_tail_file(kind: str) -> str:
    """`steps.jsonl`"""
    return f"{kind}.jsonl"


def name_block_file(kind: str, number: int) -> str:
    """`steps-000001.npz`, the first `BLOCK_ROWS` rows."""
    return f"{kind}-{number:06d}.npz"


def name_profile_file(step: int) -> str:
    """`profile-000006.npz` for the two steps that end with the sixth."""
    return f"profile-{step:06d}.npz"


def name_stream_file(step: int) -> str:
    """`stream-000003.npz` for the two steps that end with the third."""
    return f"stream-{step:06d}.npz"


def name_torch_mark(launcher: int) -> str:
    """What lies in the run folder while a program of this launcher runs that has imported torch: it says why nothing
    was recorded. Each rank may have a launcher of its own."""
    return f".torch-imported-{launcher}"


def name_history_file(step: int, reason: str) -> str:
    """`allocator-000120-out-of-memory.pickle` for the allocator's record, copied in or after step 120."""
    return f"allocator-{step:06d}-{reason}.pickle"


def name_process_folder(*, rank: int | None, pid: int) -> str:
    """The folder below a run's folder for one process of several."""
    return f"process-{pid}" if rank is None else f"rank-{rank:05d}"


def name_attempt(folder: str, attempt: int) -> str:
    """The folder for a process that comes again under the same name, as after an elastic restart."""
    return folder if attempt == 1 else f"{folder}-attempt-{attempt}"
