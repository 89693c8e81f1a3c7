from __future__ import annotations

from collections.abc import Callable

from tenure.analysis.host.pinned_growth import find_pinned_growth
from tenure.model.recording import Step
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import Suspect

MIB = 1 << 20
TRAIN = SourceFile("/p/train.py", "def keep(batch):\n    kept = batch.pin_memory()\n    return kept\n")


def found_in(pinned: Callable[[int], int], active: Callable[[int], int], *, explained: float = 0.0) -> list[Suspect]:
    rows = [
        Step(step, float(step), 1.0, {"pinned_bytes": pinned(step) * MIB, "pinned_active_bytes": active(step) * MIB})
        for step in range(1, 101)
    ]
    return list(find_pinned_growth(rows, explained, {TRAIN.path: TRAIN}))


def test_pinned_blocks_in_use_that_pile_up_are_told_with_the_statement_that_pins() -> None:
    (found,) = found_in(lambda step: step, lambda step: step)

    assert (found.symptom, found.device, found.growth_bytes_per_step) == ("host", "host", MIB)
    assert (found.first_step, found.last_step, found.retained_bytes) == (26, 100, 74 * MIB)
    assert (found.holder.name, found.holder.sites) == ("kept", (SourceLocation(TRAIN.path, 2, "keep"),))
    assert found.facts == {"pinned_in_use": True}


def test_blocks_that_are_free_and_pile_up_are_told_apart() -> None:
    (found,) = found_in(lambda step: 2 * step, lambda step: 8)

    assert found.facts == {"pinned_in_use": False}


def test_whether_blocks_are_in_use_is_left_open_where_it_was_not_counted() -> None:
    rows = [Step(step, float(step), 1.0, {"pinned_bytes": step * MIB}) for step in range(1, 101)]
    (found,) = find_pinned_growth(rows, 0.0, {TRAIN.path: TRAIN})

    assert found.facts == {"pinned_in_use": None}


def test_a_pool_that_is_there_and_growth_that_tensors_explain_are_none() -> None:
    assert found_in(lambda step: min(64, 8 * step), lambda step: 8) == []
    assert found_in(lambda step: step, lambda step: step, explained=0.9 * MIB) == []
    assert list(find_pinned_growth([Step(step, float(step), 1.0) for step in range(100)], 0.0, {})) == []
