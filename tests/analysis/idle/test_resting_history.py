from __future__ import annotations

from dataclasses import replace

from heaps import census
from tenure.analysis.heap.graph import build_graph
from tenure.analysis.idle.resting_history import LATE_AFTER, Name, follow
from tenure.model.heap import Census, ReferenceKind
from tenure.model.suspect import Series

MIB = 1 << 20
SLOT = "main.slot -> app.Slot#s -> "
INCOMING = Name(int(ReferenceKind.ITEM), "incoming", "app.Slot")


def at(step: int, address: int | None, *, moment: str = "forward-entry", own: str = ".incoming") -> Census:
    """A slot with one tensor whose storage lies there; None: without."""
    made = census(
        f"{SLOT}{own} dict -> ['w'] tensor 2MiB" if address else "main.slot -> app.Slot#s", step=step, moment=moment
    )
    addresses = made.nodes.address.copy()
    addresses[made.storages.node] = address or 0
    return replace(made, nodes=replace(made.nodes, address=addresses))


def test_a_name_is_an_attribute_with_its_owners_type_and_is_found_again_in_another_census() -> None:
    graph = build_graph(at(1, 100))
    (number,) = [n for n, label in enumerate(graph.labels) if "incoming" in label]

    assert Name.of(graph, number) == INCOMING
    assert INCOMING.find(graph).tolist() == [int(graph.census.references.target[number])]
    assert INCOMING.find(build_graph(at(1, 100, own=".other"))).tolist() == []


def test_the_history_tells_what_the_name_held_and_how_often_all_of_it_became_other_memory() -> None:
    censuses = [
        at(1, None),
        at(2, 100),
        at(4, 200),
        at(6, 200, moment="step-end"),
        at(8, 200),
        at(9, 300, moment="exit"),
    ]

    history = follow(censuses, [INCOMING], frozenset({(200, 2 * MIB)}), step=6)

    assert history is not None
    assert history.series == Series("forward-entry", (1, 2, 4, 8), (0, *[2 * MIB] * 3), (0, 1, 1, 1), (0,) * 4)
    assert (history.times_replaced, history.from_start) == (1, False)


def test_memory_is_there_from_the_start_where_each_census_up_to_the_step_has_it() -> None:
    kept = frozenset({(100, 2 * MIB)})

    def from_start(*addresses: int) -> bool:
        censuses = [at(step, address) for step, address in enumerate(addresses, start=1)]
        history = follow(censuses, [INCOMING], kept, step=4)
        return history is not None and history.from_start

    assert [from_start(100, 100, 100, 200), from_start(100, 200, 100), from_start(200, 100)] == [True, False, False]


def test_a_name_that_no_census_saw_has_no_history() -> None:
    assert follow([at(1, 100, own=".other")], [INCOMING], frozenset(), step=6) is None


def test_memory_came_late_where_several_censuses_went_by_without_it_and_it_stayed() -> None:
    def came_late(*addresses: int | None, more: Census | None = None) -> bool:
        censuses = [at(step, address) for step, address in enumerate(addresses, start=1)]
        censuses += [more] if more is not None else []
        history = follow(censuses, [INCOMING], frozenset(), step=len(addresses))
        return history is not None and history.came_late

    without = (None,) * LATE_AFTER
    grown = census(f"{SLOT}.incoming dict#d -> [*2] tensor 2MiB", step=LATE_AFTER + 2, moment="forward-entry")
    assert not came_late(*without, 100, more=grown)
    assert [came_late(*without, 100, 200), came_late(*without[1:], 100, 100), came_late(*without, 100, None, 100)] == [
        True, False, False,
    ]  # fmt: skip
