from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from profiles import profile
from tenure.errors import NewerFormatError, RecordingError
from tenure.model.profile import NO_USES, StepProfile
from tenure.store.format import FORMAT
from tenure.store.profile_file import read_profile, write_profile


def plain(made: StepProfile) -> object:
    return json.loads(json.dumps(asdict(made), default=lambda column: column.tolist()))


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = profile((7, 3, -1, 4, -1), (8, 1, 2, 3, 4), uses=[(3, 1), (4, 0)])

    size = write_profile(tmp_path / "p.npz", made)

    assert size == (tmp_path / "p.npz").stat().st_size
    assert plain(read_profile(tmp_path / "p.npz")) == plain(made)
    assert [path.name for path in tmp_path.iterdir()] == ["p.npz"]


def test_a_profile_that_was_written_before_uses_were_has_none(tmp_path: Path) -> None:
    made = profile((7, 3, -1, 4, -1), uses=[(4, 0)])
    write_profile(tmp_path / "new.npz", made)
    with np.load(tmp_path / "new.npz") as columns:
        old = {name: columns[name] for name in columns.files if not name.startswith("uses.")}
    np.savez(tmp_path / "old.npz", **old)

    assert plain(read_profile(tmp_path / "old.npz")) == plain(replace(made, uses=NO_USES))


def test_a_missing_cut_or_foreign_file_is_said_to_be_that(tmp_path: Path) -> None:
    write_profile(tmp_path / "whole.npz", profile((7, 3, -1, 4, -1)))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:200])
    np.savez(tmp_path / "foreign.npz", a=np.zeros(1))

    for name in ("missing.npz", "cut.npz", "foreign.npz"):
        with pytest.raises(RecordingError, match=name):
            read_profile(tmp_path / name)


def test_a_newer_format_is_refused_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.store.profile_file.FORMAT", FORMAT + 1)
    write_profile(tmp_path / "p.npz", profile((7, 3, -1, 4, -1)))

    with pytest.raises(NewerFormatError, match=rf"format {FORMAT + 1}.*up to {FORMAT}"):
        read_profile(tmp_path / "p.npz")
