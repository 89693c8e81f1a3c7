from __future__ import annotations

from pathlib import Path

import pytest

from tenure.errors import SourceError
from tenure.syntax.files import source_tree
from tenure.syntax.files.documents import decode
from tenure.syntax.files.source_tree import find_files, read_program


def write(folder: Path, *names: str, text: str = "import torch\n") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_hidden_folders_environments_and_links_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path, "b.py", "a/x.py", ".git/h.py", "venv/lib/y.py", "build/z.py", "a/notes.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "linked.py").symlink_to(tmp_path / "b.py")

    found = [path.relative_to(tmp_path).as_posix() for path in find_files([tmp_path])]

    assert found == ["b.py", "linked.py", "a/x.py"]


@pytest.mark.parametrize(("exclude", "left"), [("a", ["b.py"]), ("x.py", ["b.py"]), ("*/a/*", ["b.py"]), ("c", None)])
def test_what_a_glob_names_is_left_out(tmp_path: Path, exclude: str, left: list[str] | None) -> None:
    write(tmp_path, "b.py", "a/x.py")

    found = [path.relative_to(tmp_path).as_posix() for path in find_files([tmp_path], (exclude,))]

    assert found == (left or ["b.py", "a/x.py"])


def test_a_file_that_is_named_itself_is_taken_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, "script")

    assert list(find_files([tmp_path / "script"])) == [tmp_path / "script"]


def test_files_without_torch_come_along_where_one_with_torch_imports_them(tmp_path: Path) -> None:
    write(tmp_path, "train.py", text="import torch\nfrom .meters import Meter\nfrom . import tools\n")
    write(tmp_path, "meters.py", "tools.py", "other.py", text="x = 1\n")

    read = read_program(sorted(tmp_path.glob("*.py")))

    names = [Path(each.source.path).name for each in read.documents]
    assert (names, read.failures) == (["meters.py", "tools.py", "train.py"], ())
    assert (read.num_lines, read.num_skipped) == (6, 1)


def test_text_is_read_by_its_own_encoding_and_else_refused_in_one_line(tmp_path: Path) -> None:
    latin, broken = tmp_path / "latin.py", tmp_path / "broken.py"
    latin.write_bytes(b"# -*- coding: latin-1 -*-\nname = '\xe9'\n")
    broken.write_bytes(b"name = '\xe9'\n")

    assert decode(latin, latin.read_bytes()).endswith("name = 'é'\n")
    with pytest.raises(SourceError, match=r"broken.py: cannot be read: invalid or missing encoding"):
        decode(broken, broken.read_bytes())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_that_python_cannot_read_is_named_and_the_rest_is_read(tmp_path: Path, encoding: str) -> None:
    wide = tmp_path / "wide.py"
    wide.write_bytes("import torch\n".encode(encoding))
    write(tmp_path, "train.py")

    read = read_program([wide, tmp_path / "train.py"])

    assert [Path(each.source.path).name for each in read.documents] == ["train.py"]
    assert read.failures == (f"{wide}: is no text that Python reads (UTF-16?): save it as UTF-8",)


def test_a_file_that_nobody_wrote_by_hand_is_named_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_tree, "LARGEST_BYTES", 1 << 20)
    write(tmp_path, "generated.py", text="import torch\n" + "x = 1\n" * 200_000)
    write(tmp_path, "train.py")

    read = read_program(sorted(tmp_path.glob("*.py")))

    assert [Path(each.source.path).name for each in read.documents] == ["train.py"]
    said = f"{tmp_path / 'generated.py'}: larger than 1 MiB, skipped"
    assert (read.failures, read.too_large, read.num_skipped) == ((), (said,), 1)


def test_of_a_small_program_all_that_hangs_together_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "model.py", text="import torch\n")
    write(tmp_path, "train.py", text="from model import Net\nfrom meters import Meter\n")
    write(tmp_path, "meters.py", "other.py", text="x = 1\n")
    files = sorted(tmp_path.glob("*.py"))

    small = [Path(each.source.path).name for each in read_program(files).documents]
    monkeypatch.setattr(source_tree, "_FEW_FILES", 3)
    large = [Path(each.source.path).name for each in read_program(files).documents]

    assert (small, large) == (["meters.py", "model.py", "train.py"], ["model.py"])
