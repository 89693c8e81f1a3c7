"""What can go wrong, as a tree.

TenureError                        everything a caller may want to catch; its text is one line for a person
 ├── UsageError                    the request itself cannot be carried out (missing script, folder in the way)
 │    └── NoStreamError            a program of which nothing can be planned
 ├── RecordingError                a recording that cannot be read
 │    └── NewerFormatError         written by a later Tenure than this one
 ├── SnapshotError                 a memory snapshot of torch's that cannot be read, or must not be
 ├── SourceError                   a source file that cannot be parsed
 ├── PatchError                    a patch that cannot be read, or does not fit the files that are there
 ├── ReleaseError                  memory that cannot be given back as asked; nothing was changed
 └── StillHeldError                `expect_freed`: something is still held (an AssertionError too)

Command line: each ends the program with exit code 2 and its text on stderr, never a traceback.
Inside the user's program the recorder raises none of them: it notes its own failure and steps aside. Calls that the
program makes itself (`tenure.release`, `tenure.expect_freed`) do.
"""

from __future__ import annotations

from pathlib import Path


class TenureError(Exception):
    """Base of all errors that Tenure raises on purpose; the text says what was asked, what is there, what to do."""


class UsageError(TenureError):
    """The request cannot be carried out as asked."""


class NoStreamError(UsageError):
    """A run has left no memory stream; `folder` is its recording's, and so many `steps` were seen."""

    def __init__(self, message: str, folder: Path, steps: int) -> None:
        super().__init__(message)
        self.folder = folder
        self.steps = steps


class RecordingError(TenureError):
    """A recording is missing, empty or damaged beyond its last row."""


class NewerFormatError(RecordingError):
    """A recording was written in a newer format than this version reads."""


class SnapshotError(TenureError):
    """A memory snapshot cannot be read: damaged, cut off, no snapshot at all, or a pickle that asks for code."""


class SourceError(TenureError):
    """A source file cannot be read or parsed."""


class PatchError(TenureError):
    """A patch cannot be read, or was made for other files than those that are there."""


class ReleaseError(TenureError):
    """Something cannot be released as asked; everything is as it was before the call."""


class StillHeldError(TenureError, AssertionError):
    """What was expected to be freed is still held; the text says by whom, and what to drop."""
