from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, carried_finding
from tenure.model.suspect import Suspect
from tenure.rules.optimizer_keeps_parameters import check_suspect

REMEDY = (
    "the optimizer still has the old parameters and their state: make a new optimizer for what is trained"
    " now, or take their group out of `param_groups` and their entries out of `state`"
)


def test_a_layer_that_only_its_optimizer_keeps() -> None:
    assert check_suspect(SPECIMENS["TN404"]) == carried_finding(
        REMEDY,
        message="`head` was released, but `history[*]` still holds 3.00 MiB of it.",
        rule="TN404",
        name="optimizer-keeps-parameters",
        symptom="survivor",
        evidence=(
            {
                "kind": "path",
                "references": ["local variable `history` in fit (train.py:20)", "[3]"],
                "targets": [],
                "suspect_from": None,
            },
            {
                "kind": "series",
                "moment": "forward-entry",
                "steps": [1, 2, 3],
                "bytes": [3145728, 3145728, 3145728],
                "objects": [1, 2, 3],
                "graph_nodes": [0, 0, 0],
            },
            {"kind": "roles", "bytes_by_role": {"OTHER": 3145728}},
            {"kind": "facts", "released": "head"},
        ),
    )


OTHERS = {
    "held by something else": SPECIMENS["TN401"],
    "a hook of the optimizer holds it": replace(
        SPECIMENS["TN404"], symptom="growth", holder=replace(SPECIMENS["TN404"].holder, kind="hook")
    ),
    "ever more optimizers": replace(
        SPECIMENS["TN404"], symptom="growth", holder=replace(SPECIMENS["TN404"].holder, element=True)
    ),
    "nothing was released": replace(SPECIMENS["TN404"], symptom="peak"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
