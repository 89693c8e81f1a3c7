from __future__ import annotations

import pytest

from profiles import MIB
from resting import FRAME, KEPT, MODEL, OTHER, RESULT, TOUCHED, seen
from tenure.analysis.idle.resting_at_peak import find_resting_at_peak
from tenure.analysis.idle.step_replay import Replay

COPY = f"{FRAME}.self -> __main__.Average#s -> .resume_from {{}}#c -> ._parameters dict#q -> ['weight'] parameter {{}}"


def told(path: tuple[str, int], *, at_start: tuple[str, int] | None = None) -> list[tuple[str, int]]:
    """What rests beside the model in use, with its bytes."""
    start = [] if at_start is None else [at_start]
    between = [seen(MODEL, *start, step=1), seen(MODEL, path, step=4), seen(MODEL, path, step=8)]
    peak = seen(MODEL, RESULT, path, step=6, moment="peak")
    found = find_resting_at_peak(Replay(TOUCHED, peak), between, ())
    return [(each.holder.expression, each.retained_bytes) for each in found]


def test_a_copy_of_a_module_in_use_that_no_operation_touches_is_told_with_all_its_weights() -> None:
    assert told((COPY.format("__main__.Net", "2MiB"), KEPT)) == [("self.resume_from", 2 * MIB)]


@pytest.mark.parametrize(
    ("kind", "size"), [("__main__.Teacher", "2MiB"), ("__main__.Net", "3MiB")], ids=["another type", "other sizes"]
)
def test_a_module_that_is_no_copy_of_the_one_in_use_may_be_called_in_another_phase(kind: str, size: str) -> None:
    assert told((COPY.format(kind, size), KEPT)) == []


def test_a_copy_that_was_there_from_the_start_rests_as_well_for_it_is_no_data() -> None:
    copy = (COPY.format("__main__.Net", "2MiB"), KEPT)

    assert told(copy, at_start=copy) == [("self.resume_from", 2 * MIB)]
    assert told(copy, at_start=(copy[0], OTHER)) == [("self.resume_from", 2 * MIB)]
