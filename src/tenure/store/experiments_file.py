"""Experiments on disk: a copy of the process that waits, what it is asked, and what it answered.

Each copy (`capture/copies/process_copy.py`) has a folder by the moment at which it was made, as
`experiments/step-end/`. It leaves `copy.json` there and waits. Who diagnoses writes `plan.json`, the copy answers with
`results.json` and ends. Every file appears whole.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tenure.model.experiment import Drop, ExperimentResult, PlannedExperiment
from tenure.store.format import FORMAT
from tenure.store.whole_file import write_whole

EXPERIMENTS_FOLDER = "experiments"
COPY_FILE = "copy.json"
PLAN_FILE = "plan.json"
RESULTS_FILE = "results.json"
STEP_END, FORWARD_ENTRY = "step-end", "forward-entry"
ANSWER_SECONDS = 60.0
"""How long an answer is waited for; the copy itself stops after some seconds of processor time."""
POLL_SECONDS = 0.02


def make_copy_folder(recording: Path, moment: str) -> Path:
    """Where a copy made at `moment` is asked and answers. May raise OSError."""
    folder = recording / EXPERIMENTS_FOLDER / moment
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def announce_copy(folder: Path, *, pid: int, step: int) -> None:
    """Say that a copy of the process, made after `step`, waits to be asked. May raise OSError."""
    _write(folder / COPY_FILE, {"format": FORMAT, "pid": pid, "step": step})


def request_experiments(recording: Path, plan: Sequence[PlannedExperiment]) -> tuple[ExperimentResult, ...]:
    """What the copies of this process answered: asked now where they wait, else read from before.

    Each is asked about what was seen at its moment, or nowhere else, and about what did not go at the step's end: there
    the call that was running may have held it, as an optimizer's own step holds the optimizer. What is carried into the
    forward is dropped at the step's end as well: `total += model(batch)` has the old total in hand by the forward.
    Empty where no copy was made, or none answers in time. A copy that has nothing to do is sent away.
    """
    folders = {path.name: path for path in sorted((recording / EXPERIMENTS_FOLDER).glob("*/"), reverse=True)}
    found: list[ExperimentResult] = []
    for moment, folder in folders.items():
        of_moment = [each for each in plan if _nearest(each.moment, folders) == moment]
        _ask(folder, of_moment + _carried(plan, moment) + _still_held(plan, found))
        _wait_for_answer(folder)
        found += read_results(folder)
    return tuple(found)


def read_answers(recording: Path) -> tuple[ExperimentResult, ...]:
    """What copies of this process have answered so far; asks none, so that they wait for who diagnoses at the end."""
    folders = sorted((recording / EXPERIMENTS_FOLDER).glob("*/"), reverse=True)
    return tuple(result for folder in folders for result in read_results(folder))


def _still_held(plan: Sequence[PlannedExperiment], found: Sequence[ExperimentResult]) -> list[PlannedExperiment]:
    """Drops of which another copy could not show that they free what they should."""
    short = {(each.rule, each.fingerprint) for each in found if each.kind == "drop" and not each.confirms()}
    known = [each for each in plan if each.kind == "drop" and each.moment != FORWARD_ENTRY]
    return [each for each in known if (each.rule, each.fingerprint) in short]


def _carried(plan: Sequence[PlannedExperiment], moment: str) -> list[PlannedExperiment]:
    return [each for each in plan if moment == STEP_END and each.kind == "drop" and each.moment == FORWARD_ENTRY]


def _nearest(moment: str, there: Collection[str]) -> str:
    """The copy to ask: the one of the same moment, else the latest in a step."""
    return moment if moment in there else max(there)


def _ask(folder: Path, plan: Sequence[PlannedExperiment]) -> None:
    copy = _read(folder / COPY_FILE)
    if copy is not None and is_alive(int(copy["pid"])):
        with suppress(OSError):
            _write(folder / PLAN_FILE, {"format": FORMAT, "experiments": [_plan_row(each) for each in plan]})


def _wait_for_answer(folder: Path) -> None:
    until = time.monotonic() + ANSWER_SECONDS
    while (copy := _read(folder / COPY_FILE)) and is_alive(int(copy["pid"])) and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    for name in (COPY_FILE, PLAN_FILE):
        with suppress(OSError):
            (folder / name).unlink()


def read_results(folder: Path) -> tuple[ExperimentResult, ...]:
    """The results that lie in a copy's folder; empty where there are none that can be read."""
    data = _read(folder / RESULTS_FILE)
    with suppress(KeyError, TypeError, ValueError):
        if data is not None and data["format"] <= FORMAT:
            return tuple(ExperimentResult(**row) for row in data["results"])
    return ()


def read_plan(folder: Path) -> tuple[PlannedExperiment, ...] | None:
    """What the copy is asked; None while nothing is."""
    data = _read(folder / PLAN_FILE)
    return None if data is None else tuple(_planned(row) for row in data["experiments"])


def write_results(folder: Path, results: Sequence[ExperimentResult], *, step: int) -> None:
    """Answer, for good. May raise OSError."""
    _write(folder / RESULTS_FILE, {"format": FORMAT, "step": step, "results": [asdict(each) for each in results]})


def end_copy(folder: Path) -> None:
    """Say that the copy waits no more."""
    with suppress(OSError):
        (folder / COPY_FILE).unlink()


def is_alive(pid: int) -> bool:
    """Whether there is a process of this number that is ours to signal."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _plan_row(planned: PlannedExperiment) -> dict[str, Any]:
    return asdict(planned) | {"storages": sorted(planned.storages)}


def _planned(row: dict[str, Any]) -> PlannedExperiment:
    drops = tuple(Drop(**drop) for drop in row["drops"])
    return PlannedExperiment(**row | {"drops": drops, "storages": frozenset(map(tuple, row["storages"]))})


def _write(path: Path, data: dict[str, Any]) -> None:
    write_whole(path, json.dumps(data, separators=(",", ":")))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
