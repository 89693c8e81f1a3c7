from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from profiles import profile
from streams import stream
from tenure.errors import NewerFormatError, RecordingError
from tenure.model.stream import Owner, StepStream
from tenure.store.format import FORMAT
from tenure.store.stream_file import read_stream, write_stream

TWO = replace(profile((7, 3, -1, 4, -1), (8, 1, 2, 3, 4)), census_op=-1)


def made() -> StepStream:
    return stream(
        TWO,
        (Owner.PARAMETER, Owner.NONE),
        names=("0.weight", ""),
        modules=("0", "1"),
        kept_at=(3, -1),
        graph_reads=(3, 8),
        notes=("what could not be told",),
    )


def plain(found: StepStream) -> object:
    return json.loads(json.dumps(asdict(found), default=lambda column: column.tolist()))


def test_a_stream_is_read_as_it_was_written(tmp_path: Path) -> None:
    size = write_stream(tmp_path / "s.npz", made())

    assert size == (tmp_path / "s.npz").stat().st_size
    assert plain(read_stream(tmp_path / "s.npz")) == plain(made())


def test_a_missing_cut_or_uneven_file_is_said_to_be_that(tmp_path: Path) -> None:
    write_stream(tmp_path / "whole.npz", made())
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:200])
    write_stream(tmp_path / "uneven.npz", replace(made(), modules=np.zeros(3, dtype=np.int64)))

    for name in ("missing.npz", "cut.npz", "uneven.npz"):
        with pytest.raises(RecordingError, match=name):
            read_stream(tmp_path / name)


def test_a_newer_format_is_refused_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenure.store.stream_file.FORMAT", FORMAT + 1)
    write_stream(tmp_path / "s.npz", made())

    with pytest.raises(NewerFormatError, match=rf"format {FORMAT + 1}.*up to {FORMAT}"):
        read_stream(tmp_path / "s.npz")
