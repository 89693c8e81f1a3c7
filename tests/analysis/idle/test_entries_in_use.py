"""Tables whose entries a profiled step changes or uses: the second step's operations are 5 to 9."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heaps import census
from profiles import MIB, profile
from suspects import HISTORY, suspect
from tenure.analysis.idle.entries_in_use import told_where_entries_are_in_use
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Census
from tenure.model.suspect import KEPT_UP, USED_BY_STEPS, Suspect

ALIVE, BEFORE = -1, -1
ADDRESSES = (100, 200, 300, 400)
"""Of four entries of 1 MiB, of which the first two were there from the beginning."""
TABLE = suspect(storages=frozenset((address, MIB) for address in ADDRESSES))


def seen(number: int, step: int, moment: str = "step-end") -> Census:
    made = census(f"main.means -> dict -> [*{number}] tensor 1MiB", step=step, moment=moment)
    address = made.nodes.address.copy()
    address[made.storages.node] = ADDRESSES[:number]
    return replace(made, nodes=replace(made.nodes, address=address))


def told(given: Suspect, entry: int, operation: str = "aten.lerp_.Scalar", first_seen: int = 2) -> Suspect:
    """The suspect, where an operation of the second step, 6, is given this one of the entries."""
    rows = [(address, 1, BEFORE, 7, ALIVE) for address in ADDRESSES]
    peak = Replay(profile(*rows, uses=[(6, entry)], named={6: operation}), seen(4, 6, "peak"))
    (found,) = told_where_entries_are_in_use([given], [peak], [seen(2, first_seen), seen(3, 5)])
    return found


@pytest.mark.parametrize(
    ("entry", "operation", "first_seen", "kept_up"),
    [
        (1, "aten.lerp_.Scalar", 2, True),
        (3, "aten.lerp_.Scalar", 2, False),
        (1, "aten.stack.default", 2, False),
        (1, "aten.lerp_.Scalar", 4, False),
    ],
    ids=["one of the first is changed", "the newest is", "one is read alone", "the first ones are new themselves"],
)
def test_a_table_whose_first_entries_a_step_changes_in_place_is_kept_up_to_date(
    entry: int, operation: str, first_seen: int, kept_up: bool
) -> None:
    assert told(TABLE, entry, operation, first_seen) == (replace(TABLE, facts={KEPT_UP: True}) if kept_up else TABLE)


@pytest.mark.parametrize(
    "other",
    [
        replace(TABLE, symptom="sawtooth"),
        replace(TABLE, through_graph=True),
        replace(TABLE, holder=replace(HISTORY, element=False)),
        replace(TABLE, holder=replace(HISTORY, kind="hook")),
        replace(TABLE, storages=frozenset({(500, MIB), (600, MIB)})),
    ],
    ids=["falls again", "keeps graphs", "is no container", "hooks that go on", "has other entries"],
)
def test_of_other_growth_nothing_is_said(other: Suspect) -> None:
    assert told(other, 1) == other


@pytest.mark.parametrize(
    ("births", "last_uses", "per_step", "used"),
    [
        ((BEFORE, BEFORE), (7, 7), 0.1, True),
        ((BEFORE, BEFORE), (7, BEFORE), 0.1, True),
        ((BEFORE, BEFORE), (3, BEFORE), 0.1, False),
        ((2, 6), (7, 7), 0.1, False),
        ((BEFORE, BEFORE), (7, 7), 1.0, False),
    ],
    ids=["all are used", "half of it is", "by the first step alone", "both steps made one", "one comes with each step"],
)
def test_entries_that_come_now_and_then_and_that_a_profiled_step_uses_may_be_meant_to_stay(
    births: tuple[int, int], last_uses: tuple[int, int], per_step: float, used: bool
) -> None:
    table = replace(TABLE, growth_objects_per_step=per_step)
    rows = [(*each, ALIVE) for each in zip(ADDRESSES, (1, 1), births, last_uses, strict=False)]
    peak = Replay(profile(*rows), seen(2, 6, "peak"))
    (found,) = told_where_entries_are_in_use([table], [peak], [seen(2, 5), seen(3, 8)])

    assert found.facts == table.facts | ({USED_BY_STEPS: True} if used else {})


@pytest.mark.parametrize(
    ("steps", "held", "used"),
    [
        ((1, 2, 3, 4, 6, 8, 16), (2, 2, 2, 6, 6, 6, 14), True),
        ((1, 2, 3, 4, 6, 8, 16), (2, 4, 6, 8, 12, 16, 32), False),
        ((1, 2, 8, 16), (2, 2, 8, 16), False),
    ],
    ids=["many at once, now and then", "with each step", "too few censuses close to each other"],
)
def test_entries_that_come_many_at_once_come_seldom_too(
    steps: tuple[int, ...], held: tuple[int, ...], used: bool
) -> None:
    series = replace(TABLE.series, steps=steps, bytes=tuple(MIB * each for each in held))
    table = replace(TABLE, growth_objects_per_step=2.0, series=series)
    peak = Replay(profile(*((each, 1, BEFORE, 7, ALIVE) for each in ADDRESSES)), seen(4, 6, "peak"))
    (found,) = told_where_entries_are_in_use([table], [peak], [seen(4, 5)])

    assert (USED_BY_STEPS in found.facts) is used
