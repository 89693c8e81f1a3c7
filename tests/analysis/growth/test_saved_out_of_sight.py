from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HISTORY, MIB, series, suspect
from tenure.analysis.growth.saved_out_of_sight import told_with_graphs
from tenure.model.suspect import GRAPH_GOES_ON, HoldingReference, Series, Suspect

STEPS = (1, 2, 3, 4, 6, 8)
OWNER = HoldingReference(kind="unknown", name="an owner", expression="an owner")


def over_steps(per_step: int, *, nodes: int = 0) -> Series:
    return replace(
        series(*(per_step * step for step in STEPS)),
        steps=STEPS,
        objects=STEPS,
        graph_nodes=tuple(nodes * step for step in STEPS),
    )


def graph(**changes: object) -> Suspect:
    values = {
        "through_graph": True,
        "series": over_steps(MIB, nodes=5),
        "retained_bytes": 8 * MIB,
        "bytes_by_role": {"ACTIVATION": 8 * MIB},
        "storages": frozenset({(1, 8 * MIB)}),
    }
    return suspect(**values | changes)


def unseen(**changes: object) -> Suspect:
    values = {
        "key": 8,
        "holder": OWNER,
        "cut": (),
        "series": over_steps(2 * MIB),
        "retained_bytes": 16 * MIB,
        "growth_bytes_per_step": 2.0 * MIB,
        "bytes_by_role": {"OTHER": 16 * MIB},
        "fingerprint": "unseen",
        "storages": frozenset({(1, 8 * MIB), (2, 8 * MIB)}),
        "facts": {"unseen_owners": 3, "they_hold": {"torch.Tensor": 2, "MulBackward0": 1}},
    }
    return suspect(**values | changes)


def test_tensors_out_of_sight_that_come_with_a_graphs_nodes_are_told_with_the_graph_each_storage_once() -> None:
    assert told_with_graphs([unseen(), graph()]) == (
        graph(
            retained_bytes=16 * MIB,
            growth_bytes_per_step=3.0 * MIB,
            bytes_by_role={"OTHER": 16 * MIB, "ACTIVATION": 8 * MIB},
            series=over_steps(3 * MIB, nodes=5),
            storages=frozenset({(1, 8 * MIB), (2, 8 * MIB)}),
            facts={"out_of_sight_bytes_per_step": 2.0 * MIB},
        ),
    )


@pytest.mark.parametrize(
    "others",
    [
        [unseen(facts={"unseen_owners": 3, "they_hold": {"list": 3}}), graph()],
        [unseen(facts={"unseen_owners": 9, "they_hold": {"torch.Tensor": 3}}), graph()],
        [unseen(facts={}), graph()],
        [unseen(), suspect()],
        [unseen(), graph(holder=OWNER)],
        [unseen(), graph(holder=replace(HISTORY, name="b")), graph()],
        [unseen(), graph(symptom="peak")],
        [unseen(), graph(device="cuda:0")],
        [unseen(), graph(series=replace(over_steps(MIB), graph_nodes=(0, 5, 10, 15, 90, 95)))],
        [unseen(), graph(series=series(MIB, 2 * MIB, 3 * MIB, graph_nodes=(1, 2, 3)))],
    ],
    ids=["lists", "more-types", "not-out-of-sight", "no-graph", "nobodys-graph", "two-graphs", "carried", "elsewhere",
         "out-of-step", "other-steps"],
)  # fmt: skip
def test_what_no_single_graph_explains_stays_as_it_is(others: list[Suspect]) -> None:
    assert told_with_graphs(others) == tuple(others)


def deep(**changes: object) -> Suspect:
    """A graph that no census saw the end of after step 4: a mebibyte a step."""
    seen_until = replace(series(0, MIB, 2 * MIB, 3 * MIB), steps=(1, 2, 3, 4))
    values = {"series": seen_until, "growth_bytes_per_step": 1.0 * MIB, "last_step": 4}
    values["facts"] = {GRAPH_GOES_ON: True}
    return graph(**values | changes)


def later(*num_bytes: int, **changes: object) -> Suspect:
    values = {
        "series": replace(series(*num_bytes), steps=STEPS),
        "growth_bytes_per_step": 1.02 * MIB,
        "facts": {"unseen_owners": 3},
        "last_step": 8,
    }
    return unseen(**values | changes)


LATER = (0, 0, 0, 0, 2 * MIB, 4 * MIB)


def test_what_grows_on_out_of_sight_as_fast_as_a_graph_did_that_became_too_deep_is_the_graphs() -> None:
    assert told_with_graphs([later(*LATER), deep()]) == (
        deep(
            last_step=8,
            retained_bytes=16 * MIB,
            bytes_by_role={"OTHER": 16 * MIB, "ACTIVATION": 8 * MIB},
            storages=frozenset({(1, 8 * MIB), (2, 8 * MIB)}),
        ),
    )


@pytest.mark.parametrize(
    "suspects",
    [
        [later(0, 0, 0, MIB, 2 * MIB, 4 * MIB), deep()],
        [later(*LATER, growth_bytes_per_step=1.2 * MIB), deep()],
        [later(*LATER), deep(facts={})],
        [later(*LATER, device="cuda:0"), deep()],
        [later(*LATER, holder=HISTORY), deep()],
        [later(*LATER), deep(), deep(key=9, fingerprint="another")],
    ],
    ids=["there before", "another rate", "no end was missed", "another device", "it has a name", "two graphs"],
)
def test_what_grows_otherwise_is_told_by_itself(suspects: list[Suspect]) -> None:
    assert told_with_graphs(suspects) == tuple(suspects)
