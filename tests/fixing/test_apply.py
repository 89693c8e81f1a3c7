from __future__ import annotations

from pathlib import Path

import pytest

from tenure.errors import UsageError
from tenure.fixing.apply import apply_texts


def test_files_are_changed_and_keep_their_mode(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a\n")
    second.write_bytes(b"b\n")
    first.chmod(0o755)

    assert apply_texts({first: (b"a\n", b"A\n"), second: (b"b\n", b"B\n")}) == [first, second]

    assert (first.read_bytes(), second.read_bytes(), first.stat().st_mode & 0o777) == (b"A\n", b"B\n", 0o755)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "b.py"]


def test_nothing_is_written_where_one_file_was_changed_since(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a\n")
    second.write_bytes(b"other\n")

    with pytest.raises(UsageError, match="was changed since it ran, so nothing was written"):
        apply_texts({first: (b"a\n", b"A\n"), second: (b"b\n", b"B\n")})

    assert (first.read_bytes(), second.read_bytes()) == (b"a\n", b"other\n")


def test_nothing_is_written_where_a_folder_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_bytes(b"a\n")
    second.write_bytes(b"b\n")
    write_beside = apply_texts.__globals__["_write_beside"]

    def fail_at_second(path: Path, text: bytes) -> Path:
        if path == second:
            raise PermissionError(13, "Permission denied")
        return write_beside(path, text)

    monkeypatch.setitem(apply_texts.__globals__, "_write_beside", fail_at_second)
    with pytest.raises(UsageError, match=r"cannot write to .*b\.py: Permission denied"):
        apply_texts({first: (b"a\n", b"A\n"), second: (b"b\n", b"B\n")})

    assert (first.read_bytes(), sorted(path.name for path in tmp_path.iterdir())) == (b"a\n", ["a.py", "b.py"])
