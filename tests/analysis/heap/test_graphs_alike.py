from __future__ import annotations

from heaps import census
from tenure.analysis.heap.graph import build_graph
from tenure.analysis.heap.graphs_alike import find_graphs_alike

LOSSES = "main.losses -> list -> [*3] tensor#loss* -> .grad_fn DivBackward0#div*"
ONE = " -> .next PowBackward0#pow* -> .next AddmmBackward0#mm* -> .next AccumulateGrad#leaf"


def alike(*lines: str) -> list[list[str]]:
    graph = build_graph(census("\n".join(lines)))
    return [[graph.type_names[node] for node in nodes] for nodes in find_graphs_alike(graph)]


def test_graphs_that_share_only_leaves_and_what_adds_them_up_are_several() -> None:
    total = [
        f"main.total -> tensor#total -> .grad_fn StackBackward0#all -> .next DivBackward0#div{n}" for n in range(3)
    ]

    assert alike(LOSSES + ONE) == [["PowBackward0", "AddmmBackward0"]] * 3
    assert alike(LOSSES + ONE, *total) == [["PowBackward0", "AddmmBackward0"]] * 3


def test_graphs_with_a_node_in_common_are_one() -> None:
    assert alike(LOSSES + ONE, f"{LOSSES} -> .next PowBackward0#pow* -> .next TanhBackward0#trunk") == [
        [*["PowBackward0", "AddmmBackward0"] * 3, "TanhBackward0"]
    ]


def test_of_several_kinds_the_one_with_most_nodes_is_told_and_a_graph_alone_only_where_no_kind_is_twice() -> None:
    large = "main.large -> tensor#large -> .grad_fn ExpBackward0 -> .next SinBackward0 -> .next CosBackward0"

    assert alike(LOSSES + ONE, large) == [["PowBackward0", "AddmmBackward0"]] * 3
    assert alike(large) == [["ExpBackward0", "SinBackward0", "CosBackward0"]]
    assert alike("main.x -> tensor 4B") == []
