from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tenure.fixing.written import LARGEST_TEXT, Written, read_written


def test_files_are_read_once_texts_among_them_word_by_word(tmp_path: Path) -> None:
    contents = {
        "log.csv": b"a,b\n",
        "model.pt": b"PK\0\x01",
        "latin.txt": b"\xe9",
        "large.txt": b"x" * (LARGEST_TEXT + 1),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    files = {name: tmp_path / name for name in (*contents, "gone")}

    assert read_written(files) == Written(
        {**{name: sha256(content).hexdigest() for name, content in contents.items()}, "gone": "unreadable"},
        {"log.csv": "a,b\n"},
    )
