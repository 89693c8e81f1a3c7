from __future__ import annotations

import errno
import linecache
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tenure.capture.writing import sources
from tenure.capture.writing.sources import SourceCopies, find_origin


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setattr(sources, "list_program_files", lambda folders: [])
    return []


def test_the_programs_files_are_copied_at_once_and_library_files_at_the_end(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("x = 1\n")
    copies = SourceCopies(tmp_path, rows.append)

    copies.add_program([str(script), os.__file__])
    copies.add_program([str(script)])
    first = list(rows)
    copies.add_libraries()

    assert [(row["path"], row["origin"]) for row in first] == [(str(script), "yours")]
    assert [(row["path"], row["origin"]) for row in rows[1:]] == [(os.__file__, "library")]
    assert (tmp_path / "sources" / first[0]["file"]).read_text() == "x = 1\n"


def test_of_a_small_library_that_was_referred_to_all_that_is_loaded_is_copied(
    tmp_path: Path, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook that keeps memory is often in a file of its own, and nothing that holds memory leads to it."""
    for name in ("hooked", "hooked.engine", "hooked.hooks", "others"):
        path = tmp_path / f"{name}.py"
        path.write_text(f"name = {name!r}\n")
        module = ModuleType(name)
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sources, "find_origin", lambda path: "library")

    def copied() -> list[str]:
        rows.clear()
        copies = SourceCopies(tmp_path, rows.append)
        copies.add_program([str(tmp_path / "hooked.engine.py"), os.__file__])
        copies.add_libraries()
        return [Path(row["path"]).stem for row in rows]

    assert sorted(copied()) == ["hooked", "hooked.engine", "hooked.hooks", "os"]
    monkeypatch.setattr(sources, "MAX_FILES_OF_PACKAGE", 2)
    assert sorted(copied()) == ["hooked.engine", "os"]


def test_a_cell_of_a_notebook_is_copied_from_memory(
    tmp_path: Path, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(linecache.cache, "<cell 1>", (6, None, ["y = 2\n"], "<cell 1>"))
    SourceCopies(tmp_path, rows.append).add_program(["<cell 1>"])

    assert (tmp_path / "sources" / rows[0]["file"]).read_text() == "y = 2\n"


def test_copies_end_at_their_bound(tmp_path: Path, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_FILES", 2)
    paths = [tmp_path / f"part{number}.py" for number in range(4)]
    for path in paths:
        path.write_text(f"name = {path.stem!r}\n")
    SourceCopies(tmp_path, rows.append).add_program([str(path) for path in paths])

    assert [Path(row["path"]).name for row in rows] == ["part0.py", "part1.py"]


def test_a_file_that_finds_no_room_is_said_once_and_leaves_nothing(
    tmp_path: Path, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:3])
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    paths = [tmp_path / f"part{number}.py" for number in range(2)]
    for path in paths:
        path.write_text("name = 'part'\n")
    SourceCopies(tmp_path, rows.append).add_program([str(path) for path in paths])

    text = f"sources are not copied any more, from {paths[0]} on: File too large"
    assert rows == [{"kind": "note", "level": "warning", "text": text, "step": None}]
    assert list((tmp_path / "sources").iterdir()) == []


def test_modules_of_all_folders_that_the_program_worked_in_are_copied_also_where_one_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second", "elsewhere"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / f"{name}_part.py"
        path.write_text(f"name = {name!r}\n")
        module = ModuleType(f"{name}_part")
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    rows: list[dict[str, Any]] = []
    monkeypatch.chdir(tmp_path / "first")
    copies = SourceCopies(tmp_path, rows.append)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "second")
    copies.add_program()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    copies.add_program()

    found = [Path(row["path"]).stem for row in rows if Path(row["path"]).is_relative_to(tmp_path)]
    assert sorted(found) == ["first_part", "second_part"]


def test_tenures_own_files_are_a_librarys_but_its_demos_are_programs() -> None:
    assert find_origin(sources.__file__) == "library"
    assert find_origin(str(Path(sources.__file__).parents[2] / "demos" / "losses.py")) == "yours"
    assert find_origin("/opt/env/lib/python3.11/site-packages/lightning/trainer.py") == "library"
