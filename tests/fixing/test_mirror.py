from __future__ import annotations

from pathlib import Path

from tenure.fixing.mirror import LARGEST_COPY, make_mirror


def make_tree(folder: Path) -> Path:
    (folder / "data" / "deep").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "__pycache__").mkdir()
    (folder / "train.py").write_text("pass\n")
    (folder / "data" / "deep" / "small.txt").write_text("small")
    with (folder / "data" / "large.bin").open("wb") as file:
        file.truncate(LARGEST_COPY + 1)
    (folder / "link.txt").symlink_to("data/deep/small.txt")
    (folder / "broken").symlink_to("nowhere")
    return folder


def test_a_mirror_reads_as_the_original_and_sources_keep_their_place(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")

    mirror = make_mirror(tree, tmp_path / "work")

    work = tmp_path / "work"
    assert (work / "data" / "deep" / "small.txt").read_text() == "small"
    assert (work / "link.txt").read_text() == "small"
    assert (work / "train.py").resolve() == tree / "train.py"
    assert (work / "data" / "large.bin").resolve() == tree / "data" / "large.bin"
    assert (work / ".git").resolve() == tree / ".git"
    assert not (work / "__pycache__").exists()
    assert (mirror.written(), mirror.changed_originals()) == ({}, [])


def test_what_is_written_stays_in_the_mirror_and_is_listed(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    mirror = make_mirror(tree, tmp_path / "work")

    (tmp_path / "work" / "data" / "deep" / "small.txt").write_text("written over")
    (tmp_path / "work" / "runs").mkdir()
    (tmp_path / "work" / "runs" / "log.csv").write_text("1,2\n")

    assert (tree / "data" / "deep" / "small.txt").read_text() == "small"
    assert not (tree / "runs").exists()
    assert list(mirror.written()) == ["data/deep/small.txt", "runs/log.csv"]


def test_a_linked_file_that_is_written_to_is_told(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    mirror = make_mirror(tree, tmp_path / "work")

    (tmp_path / "work" / "data" / "large.bin").write_bytes(b"written through")

    assert mirror.changed_originals() == [tree / "data" / "large.bin"]


def test_a_new_mirror_takes_the_place_of_the_last_one(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    make_mirror(tree, tmp_path / "work")
    (tmp_path / "work" / "left.txt").write_text("of the last run")

    make_mirror(tree, tmp_path / "work")

    assert not (tmp_path / "work" / "left.txt").exists()
    assert (tree / "data" / "deep" / "small.txt").exists()
