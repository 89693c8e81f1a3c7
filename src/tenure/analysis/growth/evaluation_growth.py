"""What an evaluation piles up from one call of the model to the next, though it is gone when training goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenure.analysis.growth.growing import find_growing
from tenure.analysis.heap.groups import Shapes, View, view_census
from tenure.analysis.heap.running import running_functions
from tenure.model.heap import Census
from tenure.model.suspect import RUNNING, Suspect

LEAST_BYTES = 1 << 20
LEAST_SHARE = 0.05
"""Of the bytes alive: what an evaluation collects is told where it reaches one of both."""
PER_CALL = "bytes_per_call"
"""The fact that says how fast, in bytes per call of the model."""
NO_STEP_AFTER = "no_step_after"
"""The fact that no step of training came after these calls: whether what they piled up goes is not known."""


def find_growing_in_evaluations(
    evaluations: Sequence[Sequence[Census]], *, last_step: int | None = None
) -> tuple[Suspect, ...]:
    """Suspects of symptom "sawtooth" over the censuses within one evaluation: the last one that shows any. After the
    run's `last_step` these are all calls that train nothing, to the program's end.

    Costs what `find_growing` costs, per evaluation.
    """
    for censuses in reversed(evaluations):
        found = _find_growing(censuses)
        if found:
            ended = {NO_STEP_AFTER: True} if censuses[-1].step == last_step else {}
            return tuple(replace(each, facts=each.facts | ended) for each in found)
    return ()


def _find_growing(censuses: Sequence[Census]) -> tuple[Suspect, ...]:
    shapes = Shapes()
    views = [view_census(replace(census, step=_call(census)), shapes) for census in censuses]
    growing, _ = find_growing(views, shapes, by_call=True)
    much = [each for each in growing if each.symptom == "growth" and is_much(each.retained_bytes, views[-1])]
    return tuple(_of_evaluation(suspect, censuses[-1]) for suspect in much)


def is_much(size: int, view: View) -> bool:
    """Whether so many bytes that an evaluation holds at a census are worth a finding."""
    return size >= min(LEAST_BYTES, LEAST_SHARE * int(view.census.storages.bytes.sum()))


def _call(census: Census) -> int:
    return int(census.moment.rpartition("-")[2])


def _of_evaluation(suspect: Suspect, last: Census) -> Suspect:
    """Calls count here as steps do elsewhere; what is told per step is unknown, for the evaluation is one."""
    running = {RUNNING: running_functions(last)} if suspect.holder.kind == "unknown" else {}
    return replace(
        suspect,
        symptom="sawtooth",
        first_step=last.step,
        last_step=last.step,
        growth_bytes_per_step=None,
        growth_objects_per_step=None,
        bytes_interval=None,
        objects_interval=None,
        storages_at=last.step,
        drops=(),
        facts={**suspect.facts, **running, PER_CALL: round(suspect.growth_bytes_per_step or 0.0), "calls": _call(last)},
    )
