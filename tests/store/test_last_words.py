from __future__ import annotations

from pathlib import Path

import pytest

from tenure.store.last_words import leave_last_words, read_last_words, take_room

REASON = ": No space left on device"


@pytest.mark.parametrize("folder", ["/runs", "/" + "a long name/" * 40, "/" + "ein längerer Name/" * 100])
def test_the_reason_is_read_however_long_the_name_of_the_folder_is(folder: str, tmp_path: Path) -> None:
    take_room(tmp_path)
    size = (tmp_path / "last-words.json").stat().st_size

    leave_last_words(tmp_path, f"cannot write the recording {folder}{REASON}")

    found = read_last_words(tmp_path)
    assert found.endswith(f"{folder[-20:]}{REASON}")
    assert (len(found) < 100) <= (folder == "/runs")
    assert (tmp_path / "last-words.json").stat().st_size == size


def test_where_no_room_was_taken_nothing_is_written(tmp_path: Path) -> None:
    leave_last_words(tmp_path, "cannot write")

    assert (read_last_words(tmp_path), list(tmp_path.iterdir())) == ("", [])
