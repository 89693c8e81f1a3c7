from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exporting.runs import GIB, KIB, WrittenRun
from tenure.cli.main import run_command_line


def test_rows_come_back_with_nulls_and_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    WrittenRun(tmp_path / "run", rank=0).add_steps(5)
    WrittenRun(tmp_path / "run" / "rank-00001", rank=1).add_steps(2)
    file = tmp_path / "run.parquet"

    assert run_command_line(["export", str(tmp_path / "run"), "--parquet", str(file)]) == 0

    table = parquet.read_table(file)
    assert capsys.readouterr().err == f"tenure: {file}: 7 steps\n"
    assert {name: str(kind) for name, kind in zip(table.column_names, table.schema.types, strict=True)} == {
        "process": "string",
        "rank": "int32",
        "step": "int64",
        "time": "double",
        "seconds": "double",
        **dict.fromkeys(("rss_bytes", "device_index", "device_total_bytes", "num_ooms", "allocated_bytes"), "int64"),
    }
    assert table.to_pylist() == [
        {
            "process": process,
            "rank": rank,
            "step": step,
            "time": step / 4,
            "seconds": 0.25,
            "rss_bytes": step * KIB,
            "device_index": 0 if step == 1 else None,
            "device_total_bytes": 8 * GIB if step == 1 else None,
            "num_ooms": 0 if step == 1 else None,
            "allocated_bytes": None if step % 2 else GIB + step,
        }
        for process, rank, steps in (("main", 0, 5), ("rank-00001", 1, 2))
        for step in range(1, steps + 1)
    ]
    assert parquet.ParquetFile(file).num_row_groups == 3
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["run.parquet"]


def test_without_pyarrow_it_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    WrittenRun(tmp_path / "run").add_steps(1)

    assert run_command_line(["export", str(tmp_path / "run"), "--parquet", str(tmp_path / "run.parquet")]) == 2

    told = "tenure: --parquet needs pyarrow; `pip install pyarrow`, or --csv, which needs nothing\n"
    assert capsys.readouterr().err == told
