"""What is known of a program that ended early, written and read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.errors import RecordingError
from tenure.model.known import Known, KnownOptimizer
from tenure.store.known_file import read_known, write_known

KNOWN = Known(80, 60, 8, (KnownOptimizer("AdamW", 120, was_there=False),), None)


def test_what_is_known_is_read_as_it_was_written_and_the_first_stays(tmp_path: Path) -> None:
    assert read_known(tmp_path) is None

    write_known(tmp_path, KNOWN)
    write_known(tmp_path, Known(0, 0, 0, (), 5))

    assert read_known(tmp_path) == KNOWN


@pytest.mark.parametrize("text", ["", "{}", '{"optimizers": [1]}', "[]"])
def test_a_broken_file_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text(text)

    with pytest.raises(RecordingError, match="nothing known of a program"):
        read_known(tmp_path)
