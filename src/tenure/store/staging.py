"""A recording that is written on its own machine's disk first, and copied to where it belongs now and then.

Standard library only: this runs in the user's process. What a reader finds at the target is whole as of the last copy,
and `recorded-at.json` beside it says where the rest lies, until the run is over.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from tenure.model.recording import Note
from tenure.store.whole_file import whole_file, write_whole

STAGED_FILE = "recorded-at.json"
COPY_SECONDS = 60.0


class Staging:
    """Copies `local` to `target`, each file when it has changed; files of columns are then gone from `local`.

    `copy` and `finish` may raise OSError; what is not copied stays in `local`, to be tried again.
    """

    def __init__(self, local: Path, target: Path) -> None:
        self.local = local
        self.target = target
        self._states: dict[str, tuple[int, int]] = {}
        self._copying = threading.Lock()
        self._last = time.monotonic()

    def begin(self) -> None:
        """Say at the target where the recording lies, and copy what there is."""
        self._write_place()
        self.copy()

    def is_due(self) -> bool:
        """Whether the last copy lies so long ago."""
        return time.monotonic() - self._last >= COPY_SECONDS

    def copy(self) -> None:
        """Copy what is new: first columns and censuses, then the lines that name them."""
        with self._copying:
            self._last = time.monotonic()
            for path in sorted(_files_of(self.local), key=lambda path: (path.suffix != ".npz", str(path))):
                self._copy_one(path)
            self._write_place()

    def finish(self) -> None:
        """Copy all that is left, and leave nothing behind."""
        self.copy()
        shutil.rmtree(self.local, ignore_errors=True)
        with suppress(OSError):
            (self.target / STAGED_FILE).unlink()

    def _copy_one(self, path: Path) -> None:
        name = str(path.relative_to(self.local))
        try:
            found = path.stat()
        except FileNotFoundError:
            return
        state = (found.st_size, found.st_mtime_ns)
        if self._states.get(name) == state:
            return
        final = self.target / name
        if path.parent != self.local:
            final.parent.mkdir(exist_ok=True)
        with whole_file(final) as unfinished:
            shutil.copyfile(path, unfinished)
        self._states[name] = state
        if path.suffix == ".npz":
            path.unlink()

    def _write_place(self) -> None:
        place = {"node": platform.node(), "path": str(self.local), "copied": time.time()}
        write_whole(self.target / STAGED_FILE, json.dumps(place))


def complete_staged(target: Path) -> bool:
    """Copy what a program that was killed has left on this machine; whether there was any. May raise OSError."""
    place = _read_place(target)
    if place is None or place.get("node") != platform.node() or not os.path.isdir(place["path"]):  # noqa: PTH112
        return False
    Staging(Path(place["path"]), target).finish()
    return True


def describe_staged(target: Path) -> list[Note]:
    """One note where the newest part of a recording lies elsewhere."""
    place = _read_place(target)
    if place is None:
        return []
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(place.get("copied", 0))))
    text = f"what is here was copied at {at}; what came since lies on {place.get('node')} in {place['path']}"
    return [Note("warning", text)]


def _read_place(target: Path) -> dict[str, str] | None:
    try:
        place = json.loads((target / STAGED_FILE).read_text(encoding="utf-8"))
        return place if isinstance(place.get("path"), str) else None
    except (OSError, ValueError, AttributeError):
        return None


def _files_of(folder: Path) -> list[Path]:
    """All whole files below it."""
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
