from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, finding
from tenure.model.suspect import Suspect
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


OTHERS = {
    "scalars are losses": replace(SPECIMENS["TN107"], facts={"kept_shape": "[1]"}),
    "one name that is no container collects nothing": SPECIMENS["TN105"],
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
