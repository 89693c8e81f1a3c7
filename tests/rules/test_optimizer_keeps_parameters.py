from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HOP, IN_OPTIMIZER, SPECIMENS, carried_finding, hop, suspect
from tenure.model.suspect import UNCHANGED_SINCE, HoldingReference, Suspect
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


@pytest.mark.parametrize(
    ("facts", "of", "confidence"),
    [
        ({"module": "models.Encoder"}, "parameters of Encoder", "likely"),
        ({"doubt": "steps passed it by before"}, "7 parameters", "possible"),
    ],
)
def test_state_that_no_step_has_changed_since_a_layer_was_frozen(
    facts: dict[str, object], of: str, confidence: str
) -> None:
    held = replace(SPECIMENS["TN404"], facts={UNCHANGED_SINCE: 12, "parameters": 7, **facts})
    found = check_suspect(held)

    assert found is not None
    assert (found.rule, found.confidence, found.holder.name) == ("TN404", confidence, "history")
    assert [reference.name for reference in found.cut] == ["history.state[p]"]
    assert found.message == (
        f"`history[*]` keeps 3.00 MiB of state for {of} that none of its steps has changed since step 12."
    )


def test_ever_more_optimizers_of_models_that_are_gone() -> None:
    found = check_suspect(replace(SPECIMENS["TN203"], facts={"only_in_optimizers": 13}))

    assert found is not None
    assert (found.rule, found.holder.name, found.growth_bytes_per_step) == ("TN404", "masks", 1 << 20)
    assert found.message == (
        "`model.masks[*]` leads to ever more optimizers (13 by now), and nothing but these keeps the parameters and "
        "state that they have: 1.00 MiB per step."
    )


@pytest.mark.parametrize(
    ("owner", "claimed"),
    [("torch.optim.adam.Adam", True), ("torch.optim.swa_utils.AveragedModel", False), ("__main__.Adam", False)],
)
def test_an_averaged_model_is_no_optimizer(owner: str, claimed: bool) -> None:
    table = hop("ATTRIBUTE", "state", owner, "dict")
    grown = suspect(path=(HOP, table), holder=replace(suspect().holder, element=False))

    assert (check_suspect(grown) is not None) is claimed


BEFORE = HoldingReference(kind="attribute", name="before", expression="self.before")
LINK = hop("ATTRIBUTE", "before", "__main__.Session", "__main__.Session")
TABLE = hop("DICT", "__dict__", "__main__.Session", "dict")


def test_an_optimizer_that_gets_more_is_named_by_what_leads_straight_to_it() -> None:
    optimizer = replace(BEFORE, name="optimizer", expression="self.optimizer")
    its_own = hop("ITEM", "'optimizer'", "dict", "torch.optim.adamw.AdamW")
    path = (HOP, LINK, TABLE, its_own, IN_OPTIMIZER)

    named, chained = (check_suspect(suspect(path=path, holder=holder)) for holder in (optimizer, BEFORE))

    assert named is not None
    assert named.message == "`self.optimizer` gets ever more parameters and state and gives none up: 1.00 MiB per step."
    assert chained is None


OTHERS = {
    "held by something else": SPECIMENS["TN401"],
    "a hook of the optimizer holds it": replace(
        SPECIMENS["TN404"], symptom="growth", holder=replace(SPECIMENS["TN404"].holder, kind="hook")
    ),
    "ever more records of which an optimizer is the least part": replace(
        SPECIMENS["TN404"], symptom="growth", holder=replace(SPECIMENS["TN404"].holder, element=True)
    ),
    "hooks that close over optimizers": replace(SPECIMENS["TN303"], facts={"only_in_optimizers": 5}),
    "nothing was released": replace(SPECIMENS["TN404"], symptom="peak"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None


def test_a_table_of_optimizers_that_all_get_more_is_one_name() -> None:
    table = hop("ATTRIBUTE", "optimizers", "__main__.Runner", "dict")
    path = (HOP, table, hop("ITEM", "'sh0'", "dict", "torch.optim.adam.Adam"), IN_OPTIMIZER)
    holder = HoldingReference("item", "optimizers", "self.optimizers[*]")

    found = check_suspect(suspect(path=path, holder=holder))

    assert found is not None
    assert (
        found.message
        == "`self.optimizers[*]` gets ever more parameters and state and gives none up: 1.00 MiB per step."
    )
