from __future__ import annotations

import pytest

from heaps import census, node_named
from tenure.analysis.heap.groups import Shapes, view_census
from tenure.analysis.heap.held_group import Group, emptied

NET = "main.net -> __main__.Net#net -> "
OF_LAYER = f"{NET}['{{at}}'] torch.nn.Linear#{{at}} -> ._forward_hooks collections.OrderedDict#t{{at}}"
OF_WEIGHT = (
    f"{NET}['{{at}}'] torch.nn.Linear#{{at}} -> .w parameter#w{{at}} 1MiB -> <hook> collections.OrderedDict#t{{at}}"
)
FILLED = " -> [*4] functools.partial#h{at}* -> .args tuple -> [0] __main__.Window#window* -> .kept tensor#kept* 64KiB\n"


@pytest.mark.parametrize("table", [OF_LAYER, OF_WEIGHT])
def test_tables_of_hooks_that_all_lead_to_what_one_was_seen_to_hold_are_emptied_together(table: str) -> None:
    made = census("".join((table + FILLED).format(at=at) for at in ("a", "b")))
    kept = made.storages.node[made.storages.bytes == 64 << 10]
    first, second = node_named(made, "ta"), node_named(made, "tb")
    group = Group(view_census(made, Shapes()), kept, kept, many=frozenset({first}))

    assert {dropped.container for dropped in emptied(group)} == {first, second}


def test_of_several_lists_that_lead_to_the_same_none_is_emptied() -> None:
    made = census("".join((f"main.{at} -> list#t{at}" + FILLED).format(at=at) for at in ("a", "b")))
    kept = made.storages.node[made.storages.bytes == 64 << 10]

    assert emptied(Group(view_census(made, Shapes()), kept, kept, many=frozenset({node_named(made, "ta")}))) == ()
