from __future__ import annotations

from dataclasses import replace

import pytest

from heaps import census
from profiles import profile
from tenure.analysis.idle.forerunners import find_forerunners
from tenure.analysis.idle.step_replay import Replay

ALIVE, BEFORE = -1, -1
MADE, FIRST, SECOND = 100, 88, 89
PIPELINE = "step(train.py:20).self -> Pipeline#p"
CONTEXTS = f"{PIPELINE} -> .contexts deque#q"
# Steps of five operations, the census at operation 7. Row 0 is made in the first one for a later step.
HANDED_ON = (MADE, 4, 1, 2, ALIVE)
UNUSED = (SECOND, 4, BEFORE, BEFORE, 8)


def forerunners(rows: tuple[tuple[int, ...], ...], ways: tuple[str, ...]) -> list[int]:
    """Those of row 0, where the census found the storages of the first rows by these ways."""
    made = census("\n".join(f"{way} tensor 4MiB" for way in ways), step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = [row[0] for row in rows[: len(ways)]]
    replay = Replay(profile(*rows), replace(made, nodes=replace(made.nodes, address=address)))
    return find_forerunners(replay.profile, 0, view=replay.view, node_of_row=replay.node_of_row)


@pytest.mark.parametrize(
    ("made", "unused", "found"),
    [
        (f"{CONTEXTS} -> [1] Context -> .batch", f"{CONTEXTS} -> [0] Context -> .batch", [1]),
        (f"{CONTEXTS} -> [1] Context -> .inputs", f"{CONTEXTS} -> [0] Context -> .batch", [1]),
        (f"{CONTEXTS} -> [1] Context -> .inputs", f"{CONTEXTS} -> [0] Context -> .batch Batch -> .ids", []),
        (f"{PIPELINE} -> .coming", f"{PIPELINE} -> .current", [1]),
        (f"{CONTEXTS} -> [1] Context -> .batch", "step(train.py:20).context -> Context -> .batch", [1]),
        (f"{CONTEXTS} -> [1] Context -> .inputs Inputs -> .ids", "step(train.py:20).context -> Context -> .batch", []),
        (f"{PIPELINE} -> .coming", "step(train.py:20).batch ->", [1]),
        (f"{PIPELINE} -> .coming Batch -> .ids", f"{PIPELINE} -> .current Batch -> .values", []),
    ],
)
def test_what_was_let_go_unused_has_nearly_the_name_of_what_is_handed_on(
    made: str, unused: str, found: list[int]
) -> None:
    """What a step makes of a batch is needed by the next one, though that lets go the batch itself unused."""
    assert forerunners((HANDED_ON, UNUSED), (made, unused)) == found


def test_what_the_census_did_not_find_may_have_any_name() -> None:
    assert forerunners((HANDED_ON, UNUSED), (f"{CONTEXTS} -> [1] Context -> .batch",)) == [1]


@pytest.mark.parametrize(("inputs", "found"), [(".inputs", [1]), (".batch", [])])
def test_of_what_comes_to_an_end_the_nearest_by_name_says_whether_it_is_used(inputs: str, found: list[int]) -> None:
    used = (FIRST, 4, BEFORE, 8, 8)
    ways = (" -> [1] Context -> .batch", " -> [0] Context -> .batch", f" -> [2] Context -> {inputs}")

    assert forerunners((HANDED_ON, UNUSED, used), tuple(CONTEXTS + way for way in ways)) == found


@pytest.mark.parametrize(
    "other",
    [(SECOND, 4, BEFORE, 2, 8), (SECOND, 4, BEFORE, BEFORE, 4), (SECOND, 4, BEFORE, BEFORE, ALIVE),
     (SECOND, 1, BEFORE, BEFORE, 8), (SECOND, 4, 0, 0, 8)],
    ids=["the first step used it", "it went with the first step", "it stays", "it is less", "the first step made it"],
)  # fmt: skip
def test_what_did_not_lie_there_unused_for_two_steps_is_none(other: tuple[int, ...]) -> None:
    assert forerunners((HANDED_ON, other), (f"{CONTEXTS} -> [1] Context -> .batch",)) == []
