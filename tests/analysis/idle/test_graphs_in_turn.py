"""Graphs that wait for one backward: the second step's operations are 10 to 19, its peak is at 18."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from heaps import census
from profiles import MIB, profile
from tenure.analysis.idle.graphs_in_turn import BASIS, find_graphs_in_turn
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Census, NodeKind
from tenure.model.profile import NO_USES, StepProfile, Uses
from tenure.model.suspect import GRAPHS_IN_TURN, Suspect

ALIVE, BEFORE = -1, -1
FRAME = "update(train.py:20)"
ADDRESSES = (100, 200, 300)
IN_LIST = f"{FRAME}.losses -> list -> [*3] tensor#loss* -> .grad_fn DivBackward0#div*"
ONE = " -> .next MeanBackward0#mean* -> .next MmBackward0#mm* -> .saved tensor#kept* 8MiB activation"


def steps(*births: tuple[int, int], result_ends: int = 0, joined_by: str = "aten.stack.default") -> StepProfile:
    """For each graph a storage of 8 MiB, and what its last operation makes; `births` are the two operations. All are
    used by one at 17."""
    kept = [
        row
        for address, (first, last) in zip(ADDRESSES, births, strict=False)
        for row in ((address, 8, first, 19, 19), (address + 1, 1, last, last, result_ends or last))
    ]
    uses = [(17, row) for row in range(len(kept))]
    return profile(*kept, operations=20, second=10, census_op=18, uses=uses, named={17: joined_by})


def seen(*lines: str, number: int = 3) -> Census:
    made = census("\n".join(lines), step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = ADDRESSES[:number]
    assert (made.nodes.kind[made.storages.node] == NodeKind.STORAGE).all()
    return replace(made, nodes=replace(made.nodes, address=address))


def in_turn(watched: StepProfile, at_peak: Census) -> tuple[Suspect, ...]:
    return find_graphs_in_turn(Replay(watched, at_peak))


ONE_AFTER_THE_OTHER = ((11, 12), (13, 14), (15, 16))


def test_graphs_of_a_list_that_wait_for_one_backward_are_told_with_the_fall_that_one_for_each_has() -> None:
    found = in_turn(steps(*ONE_AFTER_THE_OTHER), seen(IN_LIST + ONE))

    assert [(each.symptom, each.holder.expression, each.facts) for each in found] == [
        ("peak", "losses[*]", {"idle_at_peak": True, GRAPHS_IN_TURN: 3})
    ]
    assert (found[0].retained_bytes, found[0].peak_bytes, found[0].peak_drop_bytes) == (24 * MIB, 25 * MIB, 16 * MIB)
    assert found[0].peak_basis == BASIS


def test_a_sum_of_graphs_goes_by_the_variable_that_has_it() -> None:
    summed = f"{FRAME}.total -> tensor#total -> .grad_fn AddBackward0#first"
    lines = [
        f"{summed} -> .next DivBackward0#div0{ONE.replace('*', '0')}",
        f"{summed} -> .next AddBackward0#second -> .next DivBackward0#div1{ONE.replace('*', '1')}",
        f"{summed} -> .next AddBackward0#second -> .next DivBackward0#div2{ONE.replace('*', '2')}",
    ]

    found = in_turn(steps(*ONE_AFTER_THE_OTHER), seen(*lines))

    assert [(each.holder.name, each.facts[GRAPHS_IN_TURN]) for each in found] == [("total", 3)]


def joined(operation: str) -> list[str]:
    """What joins the graphs of the list once more."""
    joint = f"{FRAME}.all -> tensor#joint -> .grad_fn {operation}#all -> .next DivBackward0#div"
    return [f"{joint}{number}" for number in range(3)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([f"{IN_LIST} -> .next TanhBackward0#trunk"], id="what they are all made of"),
        pytest.param(joined("LogsumexpBackward0"), id="a loss that is no sum"),
        pytest.param(joined("MulBackward0"), id="a product of them"),
    ],
)
def test_graphs_with_something_in_common_are_one(lines: Sequence[str]) -> None:
    assert in_turn(steps(*ONE_AFTER_THE_OTHER), seen(IN_LIST + ONE, *lines)) == ()


@pytest.mark.parametrize(("weights", "told"), [(0, 1), (MIB, 0)], ids=["a number", "one for each"])
def test_a_sum_may_be_scaled_but_not_weighted_by_what_may_come_later(weights: int, told: int) -> None:
    losses = f"{FRAME}.losses -> list -> [*3] tensor#loss* 1MiB -> .grad_fn DivBackward0#div*"
    made = census(losses + ONE, step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = (101, 100, 201, 200, 301, 300)
    kept = steps(*ONE_AFTER_THE_OTHER, result_ends=19)
    columns = kept.storages
    more = {"address": (900, 901), "bytes": (weights, weights), "device": (3, 3), "dtype": (4, 4), "shape": (5, 5),
            "birth": (17, BEFORE), "last_use": (18, 18), "death": (18, 18)}  # fmt: skip
    storages = type(columns)(**{name: np.append(getattr(columns, name), added) for name, added in more.items()})
    uses = Uses(np.append(kept.uses.operation, (18, 18)), np.append(kept.uses.storage, (6, 7)))
    scaled = replace(kept, storages=storages, uses=uses)
    scaled = replace(
        scaled,
        strings=(*kept.strings, "aten.mul.Tensor"),
        operations=replace(kept.operations, name=np.append(kept.operations.name[:18], (len(kept.strings), 0))),
    )

    found = in_turn(scaled, replace(made, nodes=replace(made.nodes, address=address)))

    assert len(found) == told


def test_graphs_that_were_made_at_the_same_time_are_not_told() -> None:
    interleaved = profile(
        (100, 8, 11, 19, 19), (200, 8, 12, 19, 19), (300, 8, 13, 19, 19),
        (101, 8, 14, 19, 19), (201, 8, 15, 19, 19), (301, 8, 16, 19, 19),
        operations=20, second=10, census_op=18, uses=[(17, 0)],
    )  # fmt: skip
    made = census(f"{IN_LIST}{ONE}\n{IN_LIST}{ONE.replace('#kept*', '#also*')}", step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = (100, 200, 300, 101, 201, 301)

    assert in_turn(interleaved, replace(made, nodes=replace(made.nodes, address=address))) == ()


def test_one_graph_and_what_an_earlier_step_made_are_not_told() -> None:
    from_before = ((3, 4), (5, 6), (15, 16))

    assert in_turn(steps(*from_before), seen(IN_LIST + ONE)) == ()
    assert in_turn(steps((11, 12)), seen((IN_LIST + ONE).replace("*3", "*1"), number=1)) == ()


def test_graphs_that_no_python_object_leads_to_have_no_name() -> None:
    held = "island -> tensor#loss* -> .grad_fn DivBackward0#div*"

    assert in_turn(steps(*ONE_AFTER_THE_OTHER), seen(*(
        (held + ONE).replace("*", str(number)) for number in range(3)))) == ()  # fmt: skip


def test_what_hardly_moves_the_peak_is_not_told() -> None:
    large = (400, 2000, 17, 18, 18)
    made = steps(*ONE_AFTER_THE_OTHER)
    columns = {name: np.append(getattr(made.storages, name), value) for name, value in zip(
        ("address", "bytes", "device", "dtype", "shape", "birth", "last_use", "death"),
        (400, 2000 * MIB, 3, 4, 5, *large[2:]), strict=True)}  # fmt: skip

    assert in_turn(replace(made, storages=type(made.storages)(**columns)), seen(IN_LIST + ONE)) == ()


def test_graphs_that_something_is_worked_out_of_later_are_waited_for() -> None:
    """As log-probabilities are, for a return that only the episode's end tells."""
    losses = f"{FRAME}.losses -> list -> [*3] tensor#loss* 1MiB -> .grad_fn DivBackward0#div*"
    made = census(losses + ONE, step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = (101, 100, 201, 200, 301, 300)
    waiting = replace(made, nodes=replace(made.nodes, address=address))

    joined, looked_at, multiplied = (
        steps(*ONE_AFTER_THE_OTHER, result_ends=19, joined_by=name)
        for name in ("aten.cat.default", "aten.ones_like.default", "aten.mul.Tensor")
    )
    assert len(in_turn(joined, waiting)) == len(in_turn(looked_at, waiting)) == 1
    assert in_turn(multiplied, waiting) == ()


def test_a_profile_without_uses_tells_nothing_of_it() -> None:
    made = replace(steps(*ONE_AFTER_THE_OTHER), uses=NO_USES)

    assert in_turn(made, seen(IN_LIST + ONE)) == ()
