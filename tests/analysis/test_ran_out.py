"""Where device memory ran out: what tensors were, by role and holder, and which finding explains it."""

from __future__ import annotations

from pathlib import Path

import pytest

from heaps import census
from tenure.analysis.ran_out import find_ran_out
from tenure.diagnose import diagnose
from tenure.model.heap import Census
from tenure.model.ran_out import HeldThen, RanOut
from tenure.report.json import diagnosis_as_json, diagnosis_from_json
from tenure.report.ran_out import render_ran_out
from tenure.report.style import Style
from tenure.store.census_file import write_census
from tenure.store.recording_file import RecordingWriter

MIB = 1 << 20
HELD = """
    main.history -> list -> [*20] tensor 4MiB cuda activation
    main.model -> Net -> .weight tensor 8MiB cuda parameter
    main.model -> Net -> .bias tensor 1MiB cuda parameter
    main.batch -> tensor 2MiB cuda
    main.host -> tensor 900MiB
"""
TOLD = RanOut(
    step=600,
    device="cuda:0",
    bytes=91 * MIB,
    held=(
        HeldThen("activation", "history[*]", 80 * MIB, 20),
        HeldThen("parameter", "", 9 * MIB, 2),
        HeldThen("other", "batch", 2 * MIB, 1),
    ),
)


def out_of_memory() -> Census:
    return census(HELD, step=600, moment="out-of-memory")


def write(writer: RecordingWriter, text: str, step: int, moment: str) -> None:
    name = f"census-{step:06d}-{moment}.npz"
    taken = census(text, step=step, moment=moment)
    write_census(writer.folder / name, taken)
    row = {"kind": "census", "step": step, "moment": moment, "file": name, "seconds": 0.1, "num_objects": 9}
    writer.append(row, flush=True)


def test_tensors_of_the_device_are_told_by_role_and_holder_the_heaviest_first() -> None:
    assert find_ran_out([census("main.x -> tensor 1MiB"), out_of_memory()], ()) == TOLD


def test_what_a_graph_has_saved_is_told_by_the_tensors_that_it_is_of() -> None:
    loss = "main.losses -> list -> [*20] tensor 4B cuda -> .grad_fn MulBackward0"
    saved = f"{loss} -> .saved tensor 1MiB cuda activation"
    further = f"{loss} -> .next AddBackward0 -> .saved tensor 2MiB cuda activation"
    found = find_ran_out([census(f"{saved}\n{further}", moment="out-of-memory")], ())

    assert found is not None
    assert found.held[0] == HeldThen("activation", "losses[*].grad_fn", 60 * MIB, 40)


def test_without_such_a_census_nothing_is_told() -> None:
    assert find_ran_out([census("main.x -> tensor 1MiB")], ()) is None


def test_the_report_of_the_recording_names_the_finding_that_explains_them(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    writer = RecordingWriter(folder, process={"rank": 3})
    for step in range(100, 601, 100):
        kept = f"main.history -> list -> [*{step // 30}] tensor 4MiB cuda activation"
        write(writer, kept, step, "step-end")
    write(writer, HELD, 600, "out-of-memory")
    writer.close()

    found = diagnose(str(folder))
    assert found.ran_out is not None
    assert found.ran_out.rank == 3
    assert [(each.name, each.rule) for each in found.ran_out.held] == [
        ("history[*]", found.findings[0].rule),
        ("", ""),
        ("batch", ""),
    ]
    assert diagnosis_from_json(diagnosis_as_json(found), source="x").ran_out == found.ran_out


@pytest.mark.parametrize("ran_out", [False, True])
def test_where_memory_ran_out_no_finding_says_when_it_will(ran_out: bool, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    writer = RecordingWriter(folder, process={})
    room = {"device_index": 0, "device_free_bytes": 900 * MIB, "reserved_bytes": 0, "allocated_peak_bytes": 0}
    for step in range(100, 601, 100):
        writer.add_row("steps", (step, float(step), 1.0, room))
        kept = f"main.history -> list -> [*{step // 30}] tensor 4MiB cuda activation"
        write(writer, kept, step, "step-end")
    if ran_out:
        write(writer, HELD, 600, "out-of-memory")
    writer.close()

    assert [found.forecast is None for found in diagnose(str(folder)).findings] == [ran_out]


def test_the_text_has_a_line_for_each_group() -> None:
    assert render_ran_out(TOLD, width=100, style=Style(False)) == (
        "Out of memory on cuda:0 after step 600: tensors held 91.00 MiB\n"
        "   80.00 MiB  activation      `history[*]` · 20 storages\n"
        "    9.00 MiB  parameter       2 storages\n"
        "    2.00 MiB  other           `batch` · 1 storage"
    )
