"""What waits at the peak for operations that might have run before it.

The second step has the operations 5 to 14, its peak is at 8. Row 0 waits from 5 on; row 1 is what its chain makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from profiles import MIB, profile
from tenure.analysis.idle.used_up_late import MOST_OPERATIONS, UsesAfterPeak, Waiting
from tenure.model.profile import StepProfile

ALIVE, BEFORE = -1, -1
WAITS = (100, 8, 5, 11, 12)
SOFTMAX = (101, 8, 10, 11, 12)
LABELS = (102, 1, BEFORE, 11, ALIVE)
LATE = (103, 1, 9, 11, 12)
WEIGHTS = (104, 8, BEFORE, 12, ALIVE)
FORWARD, BACKWARD, OPTIMIZER = 1, 2, 3


def steps(
    *storages: tuple[int, int, int, int, int],
    uses: Sequence[tuple[int, int]],
    phases: Sequence[int] | None = None,
    named: Mapping[int, str] | None = None,
    operations: int = 15,
) -> StepProfile:
    made = profile(*storages, operations=operations, second=5, census_op=8, uses=uses, phases=phases, named=named)
    return replace(made, operations=replace(made.operations, site=np.arange(operations)))


def test_what_is_reduced_after_the_peak_with_what_was_there_before_waits_for_it() -> None:
    made = steps(WAITS, SOFTMAX, LABELS, uses=[(6, 0), (10, 0), (11, 1), (11, 2)])

    assert UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) == Waiting(6, 10, made_bytes=8 * MIB)


def test_a_result_that_is_small_may_wait_for_what_comes_later() -> None:
    small = (101, 1, 10, 11, 12)
    made = steps(WAITS, small, LATE, uses=[(10, 0), (11, 1), (11, 2)])

    assert UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) == Waiting(5, 10, made_bytes=0)


@pytest.mark.parametrize(
    ("storages", "lasting"),
    [
        pytest.param((WAITS, SOFTMAX, LATE), (), id="something else that is made after the peak"),
        pytest.param((WAITS, SOFTMAX, WEIGHTS), (2,), id="a model's weights"),
    ],
)
def test_what_is_used_together_with_something_else_does_not_wait(
    storages: Sequence[tuple[int, int, int, int, int]], lasting: Sequence[int]
) -> None:
    made = steps(*storages, uses=[(10, 0), (11, 1), (11, 2)])

    assert UsesAfterPeak(made, lasting=lasting).find_waiting(0, peak=8) is None


@pytest.mark.parametrize("phase", [BACKWARD, OPTIMIZER])
def test_what_a_graph_or_an_optimizer_uses_does_not_wait(phase: int) -> None:
    phases = [FORWARD] * 10 + [phase] * 5

    assert UsesAfterPeak(steps(WAITS, uses=[(10, 0)], phases=phases), lasting=()).find_waiting(0, peak=8) is None


def test_what_a_loop_has_come_to_after_others_does_not_wait() -> None:
    """As the maps of several layers, each of which is weighed in its turn."""
    made = steps(WAITS, uses=[(10, 0)])
    in_loop = replace(made, operations=replace(made.operations, site=np.array([*range(10), 7, *range(11, 15)])))

    assert UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) is not None
    assert UsesAfterPeak(in_loop, lasting=()).find_waiting(0, peak=8) is None


@pytest.mark.parametrize(
    ("begun", "use", "waits"),
    [(7, 1, False), (7, 0, True), (4, 1, True)],
    ids=["on another", "on itself", "before it was made"],
)
def test_a_statement_has_begun_with_work_on_others_since(begun: int, use: int, waits: bool) -> None:
    made = steps(WAITS, LABELS, uses=[(begun, use), (10, 0)])
    sites = np.arange(15)
    sites[10] = begun
    again = replace(made, operations=replace(made.operations, site=sites))

    assert (UsesAfterPeak(again, lasting=()).find_waiting(0, peak=8) is not None) is waits


def test_a_view_is_neither_a_beginning_nor_a_use() -> None:
    """A slice that the statement takes first, here at 7, of another tensor and of this one at 8."""
    made = steps(WAITS, LABELS, uses=[(7, 1), (8, 0), (10, 0)], named={7: "aten.slice.Tensor", 8: "aten.slice.Tensor"})
    sites = np.arange(15)
    sites[[7, 8]] = 10
    again = replace(made, operations=replace(made.operations, site=sites))

    assert UsesAfterPeak(again, lasting=()).find_waiting(0, peak=8) == Waiting(5, 10, made_bytes=0)


@pytest.mark.parametrize(
    ("uses", "waits"),
    [([(10, 0)], True), ([(12, 0)], False), ([(10, 0), (12, 0)], False), ([(12, 0), (13, 0)], True)],
    ids=["used", "handed on", "used and handed on", "a view of it used"],
)
def test_what_is_handed_on_as_a_view_is_not_used_up(uses: list[tuple[int, int]], waits: bool) -> None:
    """As by `return output.detach()`, here at 12."""
    made = steps(WAITS, uses=uses, named={12: "aten.detach.default"})

    assert (UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) is not None) is waits


def test_what_is_made_into_something_as_large_does_not_wait() -> None:
    """A queue that is joined with new entries is there at the next step."""
    assert UsesAfterPeak(steps(WAITS, SOFTMAX, uses=[(10, 0)]), lasting=()).find_waiting(0, peak=8) is None


def test_what_is_not_used_after_the_peak_does_not_wait() -> None:
    assert UsesAfterPeak(steps(WAITS, uses=[(6, 0), (8, 0)]), lasting=()).find_waiting(0, peak=8) is None


@pytest.mark.parametrize(
    ("changed_at", "found"),
    [(7, Waiting(7, 10, made_bytes=8 * MIB)), (9, None), (12, Waiting(5, 10, made_bytes=8 * MIB))],
)
def test_what_it_is_used_with_counts_from_its_last_change_on(changed_at: int, found: Waiting | None) -> None:
    uses = sorted([(10, 0), (11, 1), (11, 2), (changed_at, 2)])
    made = steps(WAITS, SOFTMAX, LABELS, uses=uses, named={changed_at: "aten.add_.Tensor"})

    assert UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) == found


@pytest.mark.parametrize(
    ("name", "inputs"),
    [("aten.copy_.default", (1, 0)), ("aten.mul.out", (0, 1)), ("aten._foreach_add_.List", (0, 1))],
)
def test_what_is_written_into_something_as_large_does_not_wait(name: str, inputs: tuple[int, int]) -> None:
    buffer = (101, 8, BEFORE, 10, ALIVE)
    made = steps(WAITS, buffer, uses=[(10, row) for row in inputs], named={10: name})

    assert UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) is None


def test_what_a_change_reads_is_not_changed_by_it() -> None:
    total = (101, 1, BEFORE, 10, ALIVE)
    made = steps(WAITS, total, uses=[(10, 1), (10, 0)], named={10: "aten.add_.Tensor"})

    assert UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) == Waiting(5, 10, made_bytes=0)


@pytest.mark.parametrize(("number", "waits"), [(MOST_OPERATIONS, True), (MOST_OPERATIONS + 1, False)])
def test_a_long_computation_is_none_that_uses_something_up(number: int, waits: bool) -> None:
    made = steps(WAITS, uses=[(9 + each, 0) for each in range(number)], operations=40)

    assert (UsesAfterPeak(made, lasting=()).find_waiting(0, peak=8) is not None) is waits


OTHER = 0
DRAWN, OF_MODULE, BUFFER = (110, 8, 6, 8, 12), (111, 1, 5, 6, 6), (112, 8, BEFORE, 6, ALIVE)


@pytest.mark.parametrize(
    ("storages", "uses", "inside", "drawn"),
    [
        pytest.param((DRAWN, BUFFER), [(6, 1), (7, 0)], (8,), True, id="of what was there before"),
        pytest.param((DRAWN, BUFFER), [(6, 1), (7, 0)], (6,), False, id="by a module"),
        pytest.param((DRAWN, OF_MODULE), [(6, 1), (7, 0)], (5,), False, id="of what a module made"),
        pytest.param((DRAWN, WEIGHTS), [(6, 1), (7, 0)], (8,), False, id="of a weight"),
        pytest.param((DRAWN, OF_MODULE), [(7, 0), (7, 1)], (5,), False, id="filled with what a module made"),
        pytest.param((BUFFER,), [(6, 0)], (8,), False, id="it was there before"),
        pytest.param((DRAWN, BUFFER), [], (8,), False, id="no use was noted"),
    ],
)
def test_what_a_step_makes_of_data_alone_outside_of_modules_is_drawn(
    storages: Sequence[tuple[int, int, int, int, int]],
    uses: Sequence[tuple[int, int]],
    inside: Sequence[int],
    drawn: bool,
) -> None:
    phases = [FORWARD if number in inside else OTHER for number in range(15)]
    made = steps(*storages, uses=uses, phases=phases, named={7: "aten.copy_.default"})

    assert UsesAfterPeak(made, lasting=(1,) if WEIGHTS in storages else ()).is_drawn(0) is drawn
