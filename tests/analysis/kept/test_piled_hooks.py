from __future__ import annotations

import numpy as np
import pytest

from heaps import census, node_named
from tenure.analysis.heap.groups import Shapes, View, view_census
from tenure.analysis.heap.held_group import Group
from tenure.analysis.kept.piled_hooks import by_piled_hooks

NET = "main.net -> __main__.Net#n"
BEFORE = f"{NET} -> ._forward_pre_hooks collections.OrderedDict#b length={{}} -> [7] function#f1 name=before"
AFTER = f"{NET} -> ._forward_hooks collections.OrderedDict#a length={{}} -> [8] function#f2 name=after"
SEEN = (f"{BEFORE} -> <default ctx> dict#c -> ['sizes'] tensor#x 4MiB", f"{AFTER} -> <default ctx> dict#c")
STEPS = (1, 2, 4, 8)


def told(lengths: tuple[int, ...], *lines: str) -> tuple[list[str], float]:
    """The tables that are emptied, and how many hooks come per step."""
    views: list[View] = []
    for step, length in zip(STEPS, lengths, strict=True):
        made = census("\n".join(line.format(length) for line in lines), step=step)
        views.append(view_census(made, Shapes()))
    node = np.array([node_named(made, "storage of x")])
    group, gained = by_piled_hooks(Group(views[-1], node, node, cut=()), views)
    graph, targets = views[-1].graph, views[-1].census.references.source
    above = [graph.references_to(each.container)[0] for each in group.cut or ()]
    assert [int(targets[each.reference]) for each in group.cut or ()] == [each.container for each in group.cut or ()]
    return sorted(graph.labels[reference].strip("'") for reference in above), gained


def test_what_the_newest_of_hooks_that_pile_up_hold_is_dropped_with_all_of_them() -> None:
    assert told((2, 3, 5, 9), *SEEN) == (["_forward_hooks", "_forward_pre_hooks"], 1.0)


@pytest.mark.parametrize("lengths", [(5, 5, 5, 5), (2, 3, 3, 9), (2, 2, 3, 5)], ids=["none", "not always", "too few"])
def test_hooks_that_do_not_come_with_the_steps_are_left_alone(lengths: tuple[int, ...]) -> None:
    assert told(lengths, *SEEN) == ([], 0.0)


@pytest.mark.parametrize("other", ["main.last -> tensor#x", f"{NET} -> .last tensor#x"])
def test_what_something_else_holds_too_is_not_the_hooks(other: str) -> None:
    assert told((2, 3, 5, 9), *SEEN, other) == ([], 0.0)


def test_two_censuses_are_not_enough() -> None:
    nothing = "main.net -> __main__.Net#n -> ._parameters dict -> ['w'] parameter 1MiB"
    early = [view_census(census(nothing, step=step), Shapes()) for step in (1, 2)]
    late = [view_census(census("\n".join(SEEN).format(step, step), step=step), Shapes()) for step in (4, 8)]
    node = np.array([node_named(late[-1].census, "storage of x")])

    assert by_piled_hooks(Group(late[-1], node, node, cut=()), [*early, *late])[1] == 0.0
