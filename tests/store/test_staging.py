from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from tenure.store.staging import STAGED_FILE, Staging, complete_staged, describe_staged


def staged(tmp_path: Path) -> Staging:
    local, target = tmp_path / "local", tmp_path / "target"
    (local / "sources").mkdir(parents=True)
    target.mkdir()
    for name in ("rows-000001.jsonl", "census-000001.npz", "sources/a.py", ".census-000002.npz.tmp"):
        (local / name).write_text(name)
    return Staging(local, target)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_whole_files_are_copied_and_columns_then_gone_from_here(tmp_path: Path) -> None:
    staging = staged(tmp_path)
    staging.begin()

    assert names(staging.target) == ["census-000001.npz", STAGED_FILE, "rows-000001.jsonl", "sources/a.py"]
    assert names(staging.local) == [".census-000002.npz.tmp", "rows-000001.jsonl", "sources/a.py"]
    (note,) = describe_staged(staging.target)
    assert note.text.endswith(f"what came since lies on {platform.node()} in {staging.local}")


def test_only_what_has_changed_is_copied_again(tmp_path: Path) -> None:
    staging = staged(tmp_path)
    staging.begin()
    (staging.target / "sources" / "a.py").write_text("marked")
    (staging.local / "rows-000001.jsonl").write_text("longer than before")
    staging.copy()

    assert (staging.target / "rows-000001.jsonl").read_text() == "longer than before"
    assert (staging.target / "sources" / "a.py").read_text() == "marked"


def test_at_the_end_nothing_is_left_here(tmp_path: Path) -> None:
    staging = staged(tmp_path)
    staging.begin()
    (staging.local / "census-000003.npz").write_text("late")
    staging.finish()

    assert names(staging.target) == ["census-000001.npz", "census-000003.npz", "rows-000001.jsonl", "sources/a.py"]
    assert not staging.local.exists()
    assert describe_staged(staging.target) == []


def test_what_a_killed_program_left_on_this_machine_is_copied_by_its_launcher(tmp_path: Path) -> None:
    staging = staged(tmp_path)
    staging.begin()
    (staging.local / "rows-000001.jsonl").write_text("to the end")

    assert complete_staged(staging.target)
    assert (staging.target / "rows-000001.jsonl").read_text() == "to the end"
    assert not complete_staged(staging.target)


def test_what_lies_on_another_machine_is_only_told(tmp_path: Path) -> None:
    staging = staged(tmp_path)
    staging.begin()
    place = json.loads((staging.target / STAGED_FILE).read_text())
    (staging.target / STAGED_FILE).write_text(json.dumps(place | {"node": "far"}))

    assert not complete_staged(staging.target)
    assert "lies on far in " in describe_staged(staging.target)[0].text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_target_that_cannot_be_written_leaves_everything_here(tmp_path: Path) -> None:
    staging = staged(tmp_path)
    staging.target.chmod(0o500)
    with pytest.raises(PermissionError):
        staging.finish()

    assert "rows-000001.jsonl" in names(staging.local)
