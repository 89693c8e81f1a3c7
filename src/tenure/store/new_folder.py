"""A new folder for a recording: how it is called, and that nothing lies in its way."""

from __future__ import annotations

import time
from pathlib import Path

from tenure.errors import UsageError


def name_recording(program: str, *, at: float | None = None) -> str:
    """`recording-<script>-<date>-<time>`, the folder's name where none is given; of now, or of seconds since 1970."""
    name = Path(program).stem or "python"
    return f"recording-{name}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(at))}"


def check_free(folder: Path) -> None:
    """Raise UsageError where something lies in the way: a recording is never written over."""
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists():
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(f"{folder} {what}, and nothing is overwritten; name another folder")
