"""Experiments in a copy of the program's process: each starts from the same state, in a child of the copy.

Memory that went is told by a census before and one after: storages that are no longer there, by the numbers that
censuses know them by.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from tenure.capture.copies.drops import CannotDropError, describe, drop, find_objects, is_of_type
from tenure.capture.copies.process_copy import fork_copy, start_in_child
from tenure.capture.tensors.storage_serials import SERIALS
from tenure.model.experiment import ExperimentResult, PlannedExperiment
from tenure.model.heap import Census
from tenure.store.experiments_file import (
    announce_copy,
    end_copy,
    is_alive,
    make_copy_folder,
    read_plan,
    write_results,
)

ALL_SECONDS = 5.0
"""After so much processor time no further experiment is begun: a busy machine tests as much as a quiet one."""
EACH_SECONDS = 60
AT_ONCE = 2
"""Experiments side by side; the user waits for them, and each needs a copy of what it writes of the heap."""
MOST_COLLECTIONS = 10
"""Each may make the next find more; so many in a row are enough for ten rings that hold one another."""
POLL_SECONDS = 0.02
FAILURE_FILE = "failure.txt"
"""What went wrong in a copy, for us: the program and its diagnosis lose nothing but the experiments."""

Storages = dict[int, int]
"""Bytes by what censuses know a storage by."""


def leave_copy(recording: Path, *, step: int, moment: str, asked_by: int) -> bool:
    """Leave a copy of this process that does the experiments it is asked for; whether one was made.

    It waits as long as process `asked_by` lives, and shares its memory with this process: only pages that are
    written meanwhile exist twice.
    """

    folder = make_copy_folder(recording, moment)

    def serve() -> None:
        try:
            announce_copy(folder, pid=os.getpid(), step=step)
            SERIALS.begin_apart()
            before = _census_now()  # while who diagnoses is still at it
            plan = _wait_for_plan(folder, asked_by)
            if plan:
                write_results(folder, run_experiments(plan, before), step=step)
        except Exception:
            (folder / FAILURE_FILE).write_text(traceback.format_exc(), encoding="utf-8")
        finally:
            end_copy(folder)

    return fork_copy(serve)


def run_experiments(plan: Sequence[PlannedExperiment], census: Census) -> list[ExperimentResult]:
    """Do what is planned, in the order given, as long as there is time. For a copy of the program's process, of which
    `census` tells what there is before."""
    started = _processor_seconds()
    before = _by_identity(census)
    waiting = _not_in_use(census) if any(each.independent for each in plan) else before
    under_way: deque[Callable[[], ExperimentResult]] = deque()
    results = []
    for planned in plan:
        if len(under_way) == AT_ONCE:
            results.append(under_way.popleft()())
        if _processor_seconds() - started > ALL_SECONDS:
            break
        under_way.append(_start(planned, before, waiting if planned.independent else before))
    return results + [take_result() for take_result in under_way]


def _processor_seconds() -> float:
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def _wait_for_plan(folder: Path, asked_by: int) -> Sequence[PlannedExperiment] | None:
    while is_alive(asked_by) and folder.is_dir():
        with suppress(KeyError, TypeError):
            plan = read_plan(folder)
            if plan is not None:
                return plan
        time.sleep(POLL_SECONDS)
    return None


def _start(planned: PlannedExperiment, before: Storages, there: Storages) -> Callable[[], ExperimentResult]:
    """Begin an experiment; what is returned waits for its result."""

    def work() -> bytes:
        failure = _perform(planned)
        after = {} if failure else _storages_now()
        collected = [] if failure else _collected_after(planned, after)
        return json.dumps([failure, sorted(after), collected]).encode()

    take_answer = start_in_child(work, seconds=EACH_SECONDS)
    return lambda: _read_result(planned, before, there, take_answer())


def _read_result(planned: PlannedExperiment, before: Storages, there: Storages, answer: bytes) -> ExperimentResult:
    """`there` is what of `before` the finding may speak of: a ring that is still in use waits for nothing yet."""
    claimed = {known_by: size for known_by, size in planned.storages if there.get(known_by) == size}
    failure, left, collected = json.loads(answer) if answer else ("the copy of the process did not survive it", [], [])
    gone = before.keys() - set(left)
    return ExperimentResult(
        planned.kind,
        planned.rule,
        planned.fingerprint,
        predicted_bytes=sum(claimed.values()),
        freed_bytes=None if failure else sum(size for known_by, size in claimed.items() if known_by in gone),
        other_bytes=0 if failure else sum(before[known_by] for known_by in gone - claimed.keys()),
        failure=failure,
        collected_bytes=sum(claimed.get(known_by, 0) for known_by in collected),
    )


def _perform(planned: PlannedExperiment) -> str:
    """Do it; "" or why it could not be done."""
    if planned.kind == "collect":
        _collect()
        return ""
    if planned.kind == "clear caches":
        _clear_caches()
        return ""
    return _drop_all(planned)


def _collect() -> None:
    """Until nothing more is found: a ring that an autograd graph held is garbage only after the graph's own ring is."""
    for _ in range(MOST_COLLECTIONS):
        if not gc.collect():
            return


def _collected_after(planned: PlannedExperiment, left: Storages) -> list[int]:
    """What is known of storages that a collection frees once the references are dropped; none where all claimed went,
    and none of rings, which a collection would free without any drop."""
    if planned.kind != "drop" or planned.independent or not any(left.get(at) == size for at, size in planned.storages):
        return []
    _collect()
    return sorted(left.keys() - _storages_now().keys())


def _clear_caches() -> None:
    """Caches that torch fills by itself: casted weights of autocast and what was compiled."""
    torch.clear_autocast_cache()
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()


def _drop_all(planned: PlannedExperiment) -> str:
    objects = find_objects({each.source for each in planned.drops})
    for each in planned.drops:
        if each.source in objects and not is_of_type(objects[each.source], each.source_type):
            del objects[each.source]  # another object that was given the address since
    missing = [each for each in planned.drops if each.source not in objects]
    if missing and not (planned.independent and objects):
        return f"the owner of {describe(missing[0])} is gone, or out of reach"
    try:
        for each in planned.drops:
            if each.source in objects:
                drop(each, objects[each.source])
    except CannotDropError as error:
        return str(error)
    finally:
        objects.clear()
    return ""


def _census_now() -> Census:
    from tenure.capture.heap.census import take_census

    return take_census(step=0, moment="experiment")


def _storages_now() -> Storages:
    return _by_identity(_census_now())


def _by_identity(census: Census, rows: Any = slice(None)) -> Storages:
    return dict(zip(census.storage_identities[rows].tolist(), census.storages.bytes[rows].tolist(), strict=True))


def _not_in_use(census: Census) -> Storages:
    from tenure.analysis.heap.graph import build_graph
    from tenure.analysis.heap.islands import is_alive

    return _by_identity(census, ~is_alive(build_graph(census))[census.storages.node])
