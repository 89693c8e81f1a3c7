from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, finding
from tenure.model.finding import CutReference, Holder
from tenure.model.suspect import Suspect
from tenure.rules.state_carried_with_graph import check_suspect

REMEDY = (
    "cut the graph where the state passes from one step to the next: `state = state.detach()`; update "
    "what is never trained through under `torch.no_grad()`"
)


def test_a_state_whose_graph_reaches_back_is_told_with_its_rate() -> None:
    assert check_suspect(SPECIMENS["TN105"]) == finding(
        REMEDY,
        message="`self.usage` is carried from step to step with its graph, which reaches back to the first step: 1.00"
        " MiB per step.",
        rule="TN105",
        name="state-carried-with-graph",
        holder=Holder(
            kind="attribute",
            name="usage",
            expression="self.usage",
            file="/projects/asr/train.py",
            line=24,
            function="fit",
        ),
        cut=(CutReference(name="usage", file="/projects/asr/train.py", line=24),),
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
            {"kind": "facts", "kept_shape": "[64, 256]"},
        ),
    )


OTHERS = {
    "a scalar is a loss": replace(SPECIMENS["TN105"], facts={"kept_shape": "[]"}),
    "an element of a container is no state": SPECIMENS["TN107"],
    "without a graph nothing is chained": replace(SPECIMENS["TN105"], through_graph=False),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
