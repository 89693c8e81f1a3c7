"""Folders of memory snapshots with one per rank, as training frameworks write them.

torchtitan: `iteration_10/rank3_memory_snapshot.pickle`, where memory ran out `iteration_10_exit/`. Composer:
`rank3.12.memory_snapshot.pickle` by batch, and `rank3_oom_snapshot.pickle`. A recording of several ranks:
`rank-00003/allocator-000120-out-of-memory.pickle`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import UsageError

_RANK = re.compile(r"(?:^|[^a-z])rank[-_]?(\d+)", re.IGNORECASE)
_ITERATION = re.compile(r"iteration_(\d+)(_exit)?$")
_BATCH = re.compile(r"rank[-_]?\d+\.(?:ba)?(\d+)\.")
_HISTORY = re.compile(r"allocator-(\d+)-")
_ENDINGS = (".pickle", ".pickle.gz", ".pkl", ".pkl.gz")
_LATEST = 1 << 62


@dataclass(frozen=True)
class RankSnapshots:
    """The newest moment of which there is more than one rank's snapshot, or the newest at all: a file for each rank.

    `num_others` files in the folder are of other moments.
    """

    moment: str
    files: dict[int, Path]
    num_others: int


def rank_snapshots(folder: str | Path) -> RankSnapshots:
    """The snapshots below this folder that are named by ranks. Raises UsageError where none is."""
    root = Path(folder)
    moments: dict[tuple[int, int, str], dict[int, Path]] = {}
    num_files = 0
    for file in sorted(each for each in root.rglob("*") if each.name.endswith(_ENDINGS) and each.is_file()):
        rank = _rank_of(file, root)
        if rank is not None:
            moments.setdefault(_moment_of(file), {})[rank] = file
            num_files += 1
    if not moments:
        raise UsageError(
            f"{root}: no snapshots named by rank in this folder, as rank0_memory_snapshot.pickle; name one file instead"
        )
    moment = max(moments, key=lambda each: (len(moments[each]) > 1, each))
    files = dict(sorted(moments[moment].items()))
    return RankSnapshots(moment[2], files, num_files - len(files))


def _rank_of(file: Path, root: Path) -> int | None:
    """By the file's name, else by the nearest folder's."""
    for name in (file.name, *reversed(file.relative_to(root).parts[:-1])):
        found = _RANK.search(name)
        if found:
            return int(found[1])
    return None


def _moment_of(file: Path) -> tuple[int, int, str]:
    """When it was written, in an order, and in words; errors of memory are the last."""
    if "oom" in file.name or "out-of-memory" in file.name:
        return _LATEST, 1, "where memory ran out"
    for pattern, text, what in (
        (_ITERATION, file.parent.name, "iteration"),
        (_BATCH, file.name, "batch"),
        (_HISTORY, file.name, "step"),
    ):
        found = pattern.search(text)
        if found:
            is_exit = int(found.lastindex == 2)
            return int(found[1]), is_exit, f"{what} {int(found[1])}{', at the exit' if is_exit else ''}"
    return 0, 0, "one moment"
