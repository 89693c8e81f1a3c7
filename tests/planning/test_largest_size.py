from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from profiles import MIB, profile
from streams import stream
from tenure.errors import UsageError
from tenure.model.plan import LargestSize, Plan
from tenure.model.profile import Phase
from tenure.model.stream import Owner, StepStream
from tenure.planning.largest_size import OneMore, beside, find_largest_size
from tenure.planning.predict import predict

PHASES = (Phase.FORWARD, Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER)
Size = Callable[[int], int]
"""Bytes over the batch size."""


def run(batch: int, sizes: Sequence[Size], *, operations: tuple[str, ...] = ("aten.relu.default",) * 4) -> StepStream:
    """A weight that was there before, and what each of the others makes at operation 1 and frees at 2."""
    rows = [(0, 1, -1, 3, -1), *((number, 1, 1, 2, 2) for number in range(1, len(sizes)))]
    made = profile(*rows, operations=len(operations), second=2, phases=PHASES[: len(operations)])
    found = np.array([size(batch) for size in sizes], dtype=np.int64)
    made = replace(made, storages=replace(made.storages, bytes=found))
    owners = [Owner.PARAMETER, *[Owner.NONE] * (len(sizes) - 1)]
    return stream(made, owners, operations=operations, kept_at=[-1] * len(sizes))


def largest(sizes: Sequence[Size], device_bytes: int, *, last: Sequence[Size] | None = None) -> LargestSize:
    streams = [(batch, run(batch, sizes)) for batch in (4, 8, 12)] + [(16, run(16, last or sizes))]
    return find_largest_size(
        streams, plan_of(sizes), device_bytes=device_bytes, option="--batch", wanted="largest batch"
    )


def plan_of(sizes: Sequence[Size]) -> Plan:
    return predict(run(4, sizes))


def constant(size: int) -> Size:
    return lambda batch: size * MIB


def linear(size: int) -> Size:
    return lambda batch: size * MIB * batch


def square(size: int) -> Size:
    return lambda batch: size * MIB * batch * batch


def test_activations_grow_with_the_batch_and_what_all_pairs_take_with_its_square() -> None:
    found = largest([constant(10), linear(2), square(1)], 1000 * MIB)

    # 10 + 2 n + n n <= 1000: n is 30, and segments are of 2 MiB
    assert found == LargestSize("--batch", 30, 30, (4, 8, 12), 16, 298 * MIB, 298 * MIB)


def test_what_is_reserved_bounds_the_answer_below_and_what_is_in_use_above() -> None:
    found = largest([constant(3), linear(1), linear(1)], 100 * MIB)

    assert (found.least, found.most) == (40, 48)  # 20 MiB for the weight's segment, then one for each


def test_sizes_that_two_steps_of_one_run_have_otherwise_depend_on_values() -> None:
    """Each step takes as many rows as a random choice gives: a tenth off, between operations 1 and 3."""

    def chosen(batch: int, *, off: int) -> StepStream:
        rows = [(0, 1, -1, 3, -1), (1, 1, 1, 1, 1), (2, 1, 3, 3, 3)]
        made = profile(*rows, operations=4, second=2, phases=PHASES)
        found = np.array([50 * MIB, batch * MIB, batch * MIB + off], dtype=np.int64)
        made = replace(made, storages=replace(made.storages, bytes=found))
        owners = [Owner.PARAMETER, Owner.NONE, Owner.NONE]
        return stream(made, owners, operations=("aten.relu.default",) * 4, kept_at=[-1] * 3)

    def asked(off: int) -> LargestSize:
        streams = [(batch, chosen(batch, off=off)) for batch in (4, 8, 12, 16)]
        return find_largest_size(
            streams, plan_of([constant(50)]), device_bytes=100 * MIB, option="--batch", wanted="largest batch"
        )

    assert asked(0).most == 50
    with pytest.raises(UsageError, match=r"With 4 two steps that run the same operations differ by 1\.00 MiB"):
        asked(MIB)


def test_a_check_that_is_off_by_much_of_what_the_size_changes_gives_no_answer() -> None:
    """Beside parameters that hide it in the whole."""
    with pytest.raises(UsageError, match=r"for --batch 16 smaller ones predict"):
        largest([constant(500), linear(1)], 10_000 * MIB, last=[constant(500), lambda batch: 14 * MIB])


def test_none_fits_where_the_parameters_do_not() -> None:
    found = largest([constant(10), linear(2)], 8 * MIB)

    assert (found.least, found.most) == (0, 0)


def test_a_batch_that_checks_otherwise_gives_no_answer() -> None:
    with pytest.raises(UsageError, match=r"for --batch 16 smaller ones predict 42.00 MiB in use .* 74.00 MiB were"):
        largest([constant(10), linear(2)], 1000 * MIB, last=[constant(10), linear(4)])


def test_an_option_that_changes_nothing_gives_no_answer() -> None:
    with pytest.raises(UsageError, match="--batch changes nothing of what the steps need"):
        largest([constant(10), constant(2)], 1000 * MIB)


def test_steps_of_other_operations_give_no_answer() -> None:
    sizes = [constant(10), linear(2)]
    streams = [(batch, run(batch, sizes)) for batch in (4, 8, 12, 16)]
    streams[1] = (8, run(8, sizes, operations=("aten.relu.default",) * 3))

    with pytest.raises(UsageError, match=r"with another --batch the steps run other operations \(4 and 3\)"):
        find_largest_size(streams, plan_of(sizes), device_bytes=1000 * MIB, option="--batch", wanted="largest batch")


def test_a_large_model_does_not_hide_that_a_batch_checks_otherwise() -> None:
    with pytest.raises(UsageError, match=r"an operation of forward where 9.81 GiB were, and 9.77 GiB"):
        largest([constant(10_000), linear(2)], 20_000 * MIB, last=[constant(10_000), linear(3)])


def test_bytes_that_are_rounded_up_are_not_taken_for_a_parabola() -> None:
    # 2, 2, 4 and 4 MiB for 4, 8, 12 and 16: a parabola through the first three has 8 for 16, and 60 GiB for 1,000
    found = largest([constant(10), linear(20), lambda batch: -(-batch // 8) * 2 * MIB], 20_000 * MIB)

    assert found.is_widened
    assert 950 < found.least < found.most < 1030


def test_steps_of_one_size_that_differ_give_no_answer_but_what_is_known() -> None:
    def uneven(batch: int) -> StepStream:
        made = profile((0, 100, -1, 3, -1), (1, batch, 0, 1, 1), (2, batch + 3, 2, 3, 3), operations=4, second=2,
                       phases=[Phase.FORWARD, Phase.BACKWARD] * 2)  # fmt: skip
        return stream(made, [Owner.PARAMETER, Owner.NONE, Owner.NONE], operations=("aten.nonzero.default",) * 4)

    streams = [(batch, uneven(batch)) for batch in (4, 8, 12, 16)]
    with pytest.raises(UsageError) as caught:
        find_largest_size(streams, predict(streams[0][1]), device_bytes=1 << 40, option="-b", wanted="largest batch")

    assert str(caught.value) == (
        "no largest batch: sizes depend on values or on the data. With 4 two steps that run the same operations differ "
        "by 3.00 MiB in use, from aten.nonzero.default in train.py:10 on, so that other sizes do not follow. Known "
        "are the peaks in use of the runs: 4: 107.00 MiB, 8: 111.00 MiB, 12: 116.00 MiB, 16: 120.00 MiB"
    )


SIZES = [constant(10), linear(2)]
BESIDE = beside(plan_of(SIZES))[1]


@pytest.mark.parametrize(
    ("one_more", "asked", "confirmed", "is_widened"),
    [
        (lambda watch: OneMore(watch), [5107], 5107, False),
        (lambda watch: OneMore(watch, most=1000), [1000], 1000, False),
        (lambda watch: OneMore(watch, most=200), [200], 200, True),
        (lambda watch: OneMore(watch, host_bytes=410 * MIB), [200], 200, True),
        (lambda watch: OneMore(watch, most=20), [], None, True),
        (lambda watch: None, [], None, True),
    ],
)
def test_a_far_answer_is_confirmed_as_near_as_may_be_or_taken_wider(
    one_more: Callable[[Callable[[int], StepStream]], OneMore | None],
    asked: list[int],
    confirmed: int | None,
    is_widened: bool,
) -> None:
    ran: list[int] = []

    def watch(size: int) -> StepStream:
        ran.append(size)
        return run(size, SIZES)

    streams = [(batch, run(batch, SIZES)) for batch in (4, 8, 12, 16)]
    found = find_largest_size(
        streams, plan_of(SIZES), device_bytes=BESIDE + 10_225 * MIB, option="-b", wanted="", one_more=one_more(watch)
    )

    assert (ran, found.confirmed, found.is_widened) == (asked, confirmed, is_widened)
    exact = 5107
    assert (found.least, found.most) == ((int(exact * 0.98), int(exact * 1.02)) if is_widened else (exact, exact))


def test_a_run_nearer_to_the_answer_that_is_otherwise_takes_it_back() -> None:
    streams = [(batch, run(batch, SIZES)) for batch in (4, 8, 12, 16)]
    one_more = OneMore(lambda size: run(size, [constant(10), linear(3)]))

    with pytest.raises(UsageError, match=r"for -b 51\d\d smaller ones predict"):
        find_largest_size(streams, plan_of(SIZES), device_bytes=10_240 * MIB, option="-b", wanted="", one_more=one_more)
