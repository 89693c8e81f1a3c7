"""Folders of snapshots are read by the names that frameworks give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.errors import UsageError
from tenure.store.rank_snapshots import RankSnapshots, rank_snapshots


def made(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


@pytest.mark.parametrize(
    ("names", "moment", "chosen"),
    [
        (
            [f"iteration_{step}/rank{rank}_memory_snapshot.pickle" for step in (9, 10) for rank in (0, 1)],
            "iteration 10",
            ["iteration_10/rank0_memory_snapshot.pickle", "iteration_10/rank1_memory_snapshot.pickle"],
        ),
        (
            [f"iteration_10{end}/rank{rank}_memory_snapshot.pickle" for end in ("", "_exit") for rank in (0, 1)],
            "iteration 10, at the exit",
            ["iteration_10_exit/rank0_memory_snapshot.pickle", "iteration_10_exit/rank1_memory_snapshot.pickle"],
        ),
        (
            [f"run/torch_traces/rank{rank}.{batch}.memory_snapshot.pickle" for rank in (0, 1) for batch in (3, 12)],
            "batch 12",
            [
                "run/torch_traces/rank0.12.memory_snapshot.pickle",
                "run/torch_traces/rank1.12.memory_snapshot.pickle",
            ],
        ),
        (
            ["rank0.3.memory_snapshot.pickle", "rank0_oom_snapshot.pickle", "rank1_oom_snapshot.pickle"],
            "where memory ran out",
            ["rank0_oom_snapshot.pickle", "rank1_oom_snapshot.pickle"],
        ),
        (
            [f"rank-0000{rank}/allocator-000120-exit.pickle" for rank in (0, 3)],
            "step 120",
            ["rank-00000/allocator-000120-exit.pickle", "rank-00003/allocator-000120-exit.pickle"],
        ),
    ],
)
def test_the_newest_moment_of_several_ranks_is_taken(
    names: list[str], moment: str, chosen: list[str], tmp_path: Path
) -> None:
    found = rank_snapshots(made(tmp_path, *names))

    assert (found.moment, list(found.files.values())) == (moment, [tmp_path / name for name in chosen])
    assert found.num_others == len(names) - len(chosen)


def test_a_moment_of_one_rank_does_not_hide_an_earlier_one_of_all(tmp_path: Path) -> None:
    names = ["iteration_5/rank0_x.pickle", "iteration_5/rank1_x.pickle", "iteration_6/rank1_x.pickle"]

    found = rank_snapshots(made(tmp_path, *names))

    assert found == RankSnapshots("iteration 5", {0: tmp_path / names[0], 1: tmp_path / names[1]}, 1)


def test_a_folder_without_ranks_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no snapshots named by rank"):
        rank_snapshots(made(tmp_path, "snapshot.pickle", "notes.txt"))
