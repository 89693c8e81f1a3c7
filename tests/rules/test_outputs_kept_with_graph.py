from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import MIB, SPECIMENS, finding, series, suspect
from tenure.model.suspect import OF_LOSSES, Suspect
from tenure.rules.outputs_kept_with_graph import check_suspect

REMEDY = (
    "store `x.detach()` (a copy on the CPU, `x.detach().cpu()`, where many are kept); run evaluation and "
    "inference under `torch.no_grad()` or `torch.inference_mode()`"
)


def test_a_collection_of_outputs_is_told_with_their_shape() -> None:
    assert check_suspect(SPECIMENS["TN107"]) == finding(
        REMEDY,
        message="`history[*]` collects tensors of shape [64, 64] together with the graph that made each: 1.00 MiB per"
        " step.",
        rule="TN107",
        name="outputs-kept-with-graph",
        evidence=(
            {
                "kind": "path",
                "references": ["local variable `history` in fit (train.py:20)", "[3]"],
                "targets": [],
                "suspect_from": None,
            },
            {
                "kind": "series",
                "moment": "step-end",
                "steps": [1, 2, 3],
                "bytes": [1048576, 2097152, 3145728],
                "objects": [1, 2, 3],
                "graph_nodes": [0, 0, 0],
            },
            {"kind": "roles", "bytes_by_role": {"OTHER": 3145728}},
            {"kind": "facts", "kept_shape": "[64, 64]"},
        ),
    )


RESULTS = suspect(
    bytes_by_role={"ACTIVATION": 3 * MIB},
    growth_bytes_per_step=2048.0,
    graph_freed=True,
    series=series(2048, 4096, 6144, graph_nodes=(4, 8, 12)),
)


def test_results_whose_nodes_outweigh_them_are_kept_with_a_graph_that_backward_has_freed() -> None:
    found = check_suspect(RESULTS)

    assert found is not None
    assert found.message == (
        "`history[*]` collects tensors together with the graph that made each: 4 autograd nodes per step."
    )


OTHERS = {
    "the tensors weigh more than their nodes": replace(RESULTS, growth_bytes_per_step=2801.0),
    "not all of them are results": replace(RESULTS, bytes_by_role={"ACTIVATION": 2 * MIB, "OTHER": MIB}),
    "scalars with nodes are losses": replace(RESULTS, scalars=True),
    "scalars are losses": replace(SPECIMENS["TN107"], facts={"kept_shape": "[1]"}),
    "rows of losses are losses": replace(SPECIMENS["TN107"], facts={"kept_shape": "[3]", OF_LOSSES: True}),
    "one name that is no container collects nothing": SPECIMENS["TN105"],
}


@pytest.mark.parametrize("facts", [{"kept_shape": "[3]"}, {"kept_shape": "[3, 8]", OF_LOSSES: True}])
def test_rows_of_no_losses_and_tables_are_outputs(facts: dict[str, object]) -> None:
    assert check_suspect(replace(SPECIMENS["TN107"], facts=facts)) is not None


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
