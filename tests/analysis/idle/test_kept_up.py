"""Tables whose entries a profiled step changes: the second step's operations are 5 to 9."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heaps import census
from profiles import MIB, profile
from suspects import HISTORY, suspect
from tenure.analysis.idle.kept_up import told_where_entries_are_kept_up
from tenure.analysis.idle.step_replay import Replay
from tenure.model.suspect import KEPT_UP, Suspect

ALIVE, BEFORE = -1, -1
ADDRESSES = (100, 200, 300, 400)
"""Of four entries of 1 MiB, of which the first step made the last one."""
TABLE = suspect(storages=frozenset((address, MIB) for address in ADDRESSES))


def told(given: Suspect, entry: int, operation: str = "aten.lerp_.Scalar") -> Suspect:
    """The suspect, where an operation of the second step is given this one of the entries."""
    rows = [(address, 1, BEFORE if address < 400 else 4, 7, ALIVE) for address in ADDRESSES]
    heap = census("main.means -> dict -> [*4] tensor 1MiB", step=6, moment="peak")
    address = heap.nodes.address.copy()
    address[heap.storages.node] = ADDRESSES
    steps = profile(*rows, uses=[(6, entry)], named={6: operation})
    peak = Replay(steps, replace(heap, nodes=replace(heap.nodes, address=address)))
    (found,) = told_where_entries_are_kept_up([given], [peak])
    return found


@pytest.mark.parametrize(
    ("entry", "operation", "kept_up"),
    [(1, "aten.lerp_.Scalar", True), (3, "aten.lerp_.Scalar", False), (1, "aten.stack.default", False)],
    ids=["an earlier entry is changed", "the newest one is", "it is read alone"],
)
def test_a_table_whose_earlier_entries_a_step_changes_in_place_is_kept_up_to_date(
    entry: int, operation: str, kept_up: bool
) -> None:
    assert told(TABLE, entry, operation) == (replace(TABLE, facts={KEPT_UP: True}) if kept_up else TABLE)


@pytest.mark.parametrize(
    "other",
    [
        replace(TABLE, symptom="sawtooth"),
        replace(TABLE, through_graph=True),
        replace(TABLE, holder=replace(HISTORY, element=False)),
        replace(TABLE, storages=frozenset({(500, MIB), (600, MIB)})),
    ],
    ids=["falls again", "keeps graphs", "is no container", "has other entries"],
)
def test_of_other_growth_nothing_is_said(other: Suspect) -> None:
    assert told(other, 1) == other
