from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tenure.store.whole_file import whole_file, write_whole


def test_a_file_appears_whole(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("before")
    write_whole(tmp_path / "a.json", "after")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "after"}


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(b"")
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a.json").write_text("before")
    monkeypatch.setattr(Path, "write_text", fill)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a.json", "after")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "before"}


def test_a_block_that_fails_for_any_reason_leaves_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with whole_file(tmp_path / "a.npz") as unfinished:
            unfinished.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert list(tmp_path.iterdir()) == []
