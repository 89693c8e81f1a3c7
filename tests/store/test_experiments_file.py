from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tenure.model.experiment import Drop, ExperimentResult, PlannedExperiment
from tenure.store.experiments_file import (
    announce_copy,
    end_copy,
    make_copy_folder,
    read_plan,
    read_results,
    request_experiments,
    write_results,
)

DROP = Drop(source=10, source_type="dict", kind="ITEM", label="loss", target=20)
PLANNED = PlannedExperiment("drop", "TN101", "abc", (DROP,), frozenset({(30, 400), (31, 500)}), "step-end")
AT_ENTRY = PlannedExperiment("drop", "TN102", "def", (DROP,), frozenset({(32, 100)}), "forward-entry")
RESULT = ExperimentResult("drop", "TN101", "abc", predicted_bytes=900, freed_bytes=400, other_bytes=8)


def answer(folder: Path, result: ExperimentResult, asked: list[tuple[PlannedExperiment, ...]]) -> None:
    """What a copy does."""
    while (plan := read_plan(folder)) is None:
        time.sleep(0.01)
    asked.append(plan)
    write_results(folder, [result], step=9)
    end_copy(folder)


def pid_of_the_dead() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_copy_is_asked_and_its_answer_given_back_and_kept(tmp_path: Path) -> None:
    folder = make_copy_folder(tmp_path, "step-end")
    announce_copy(folder, pid=threading.get_native_id(), step=9)
    asked: list[tuple[PlannedExperiment, ...]] = []
    copy = threading.Thread(target=answer, args=(folder, RESULT, asked))
    copy.start()
    assert request_experiments(tmp_path, [PLANNED]) == (RESULT,)
    copy.join()
    assert asked == [(PLANNED,)]
    assert [path.name for path in folder.iterdir()] == ["results.json"]
    assert request_experiments(tmp_path, [PLANNED]) == (RESULT,)


Asked = dict[str, list[tuple[PlannedExperiment, ...]]]


def asked_of_two_copies(recording: Path, at_step_end: ExperimentResult) -> Asked:
    asked: Asked = {"forward-entry": [], "step-end": []}
    copies = []
    for moment, plans in asked.items():
        folder = make_copy_folder(recording, moment)
        announce_copy(folder, pid=threading.get_native_id(), step=9)
        copies.append(threading.Thread(target=answer, args=(folder, at_step_end, plans)))
        copies[-1].start()
    request_experiments(recording, [PLANNED, AT_ENTRY])
    for copy in copies:
        copy.join()
    return asked


def test_each_copy_is_asked_about_what_was_seen_at_its_moment_and_what_is_carried_from_the_steps_end_too(
    tmp_path: Path,
) -> None:
    all_went = dataclasses.replace(RESULT, freed_bytes=600, collected_bytes=300)
    asked = asked_of_two_copies(tmp_path, all_went)
    assert asked == {"forward-entry": [(AT_ENTRY,)], "step-end": [(PLANNED, AT_ENTRY)]}


@pytest.mark.parametrize("freed", [400, None])
def test_what_did_not_go_is_tried_again_where_another_call_runs(tmp_path: Path, freed: int | None) -> None:
    asked = asked_of_two_copies(tmp_path, dataclasses.replace(RESULT, freed_bytes=freed))
    assert asked == {"forward-entry": [(AT_ENTRY, PLANNED)], "step-end": [(PLANNED, AT_ENTRY)]}


def test_the_only_copy_is_asked_about_everything(tmp_path: Path) -> None:
    folder = make_copy_folder(tmp_path, "exit")
    announce_copy(folder, pid=threading.get_native_id(), step=9)
    asked: list[tuple[PlannedExperiment, ...]] = []
    copy = threading.Thread(target=answer, args=(folder, RESULT, asked))
    copy.start()
    request_experiments(tmp_path, [PLANNED, AT_ENTRY])
    copy.join()
    assert asked == [(PLANNED, AT_ENTRY)]


def test_nobody_waits_for_a_copy_that_has_died(tmp_path: Path) -> None:
    folder = make_copy_folder(tmp_path, "step-end")
    announce_copy(folder, pid=pid_of_the_dead(), step=9)
    assert request_experiments(tmp_path, [PLANNED]) == ()
    assert list(folder.iterdir()) == []


def test_without_a_copy_there_are_no_results(tmp_path: Path) -> None:
    assert request_experiments(tmp_path, [PLANNED]) == ()
    assert list(tmp_path.iterdir()) == []


def test_results_that_cannot_be_read_count_as_none(tmp_path: Path) -> None:
    for text in ("", "[]", '{"format": 99, "results": []}', '{"format": 1, "results": [{"kind": "drop"}]}'):
        (tmp_path / "results.json").write_text(text)
        assert read_results(tmp_path) == ()
