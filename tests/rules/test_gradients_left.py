from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import LEFT, SPECIMENS, TRAIN, carried_finding, path_row, roles_row, series_row, suspect
from tenure.model.finding import CutReference, Holder
from tenure.model.suspect import GRADIENTS_IN_TURN, PART_WITH_GRADIENTS, PARTS_WITH_GRADIENTS, TRAINED_BEFORE
from tenure.rules.gradients_left import check_suspect

MIB = 1 << 20
REMEDY = (
    "say that they are not trained, before the first backward: `requires_grad_(False)`; gradients left from "
    "an earlier phase go with `zero_grad(set_to_none=True)` of the module, or `p.grad = None`"
)


def test_gradients_that_no_optimizer_reads() -> None:
    assert check_suspect(SPECIMENS["TN405"]) == carried_finding(
        REMEDY,
        rule="TN405",
        name="gradients-left",
        symptom="survivor",
        confidence="likely",
        message="Parameters of `self.encoder` are in no optimizer and keep 3.00 MiB of gradients.",
        holder=Holder("attribute", "encoder", "self.encoder", TRAIN, 24, "fit"),
        cut=(CutReference("encoder.*.grad", TRAIN, 24),),
        evidence=(
            path_row(),
            series_row(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"),
            roles_row(GRADIENT=3 * MIB),
            {"kind": "facts", **LEFT},
        ),
    )


@pytest.mark.parametrize(
    ("facts", "parts"),
    [
        ({PART_WITH_GRADIENTS: "attention.Fused"}, "Fused"),
        ({PARTS_WITH_GRADIENTS: 43}, "43 parts"),
        ({PART_WITH_GRADIENTS: "attention.Fused", PARTS_WITH_GRADIENTS: 43}, "Fused"),
    ],
)
def test_of_a_module_of_which_parts_have_gradients_the_parts_are_told(facts: dict[str, object], parts: str) -> None:
    specimen = SPECIMENS["TN405"]
    found = check_suspect(replace(specimen, facts=specimen.facts | facts))

    assert found is not None
    assert found.message == (
        f"Parameters of {parts} in `self.encoder` are in no optimizer and keep 3.00 MiB of gradients."
    )


def test_what_another_pass_left_is_told_by_its_gradients_and_how_such_a_pass_leaves_none() -> None:
    specimen = SPECIMENS["TN405"]
    found = check_suspect(replace(specimen, facts=specimen.facts | {"left_by_backward": True}))

    assert found is not None
    assert found.message == (
        "Parameters of `self.encoder` are in no optimizer and keep 3.00 MiB of gradients that a backward pass beside "
        "the training's left."
    )
    assert (found.holder.name, found.holder.expression) == ("encoder.*.grad", "self.encoder.*.grad")
    assert [remedy.summary for remedy in found.remedies] == [
        "after that pass `zero_grad(set_to_none=True)` of the module; or ask for what is wanted alone, "
        "`torch.autograd.grad(output, inputs)`, which leaves nothing on parameters"
    ]


def test_what_was_trained_in_an_earlier_phase_is_not_to_be_frozen() -> None:
    found = check_suspect(replace(SPECIMENS["TN405"], facts=SPECIMENS["TN405"].facts | {TRAINED_BEFORE: True}))

    assert found is not None
    assert found.message == "Parameters of `self.encoder` are in no optimizer any more and keep 3.00 MiB of gradients."
    assert [remedy.summary for remedy in found.remedies] == [
        "where their training ends `zero_grad(set_to_none=True)` of the module, or `p.grad = None` for each of them"
    ]


def test_of_a_single_parameter_its_own_gradient_is_to_be_dropped() -> None:
    alone = replace(SPECIMENS["TN405"], facts=LEFT | {"gradients_of": "torch.nn.parameter.Parameter"})

    found = check_suspect(alone)

    assert found is not None
    assert found.cut == (CutReference("encoder.grad", TRAIN, 24),)


@pytest.mark.parametrize("code", ["TN401", "TN403", "TN404"])
def test_other_survivors_are_left_to_other_rules(code: str) -> None:
    assert check_suspect(SPECIMENS[code]) is None


def test_gradients_of_one_tensor_after_the_other_are_told_with_their_rate() -> None:
    found = check_suspect(suspect(facts={GRADIENTS_IN_TURN: 3}))

    assert found is not None
    assert (found.rule, found.confidence) == ("TN405", "certain")
    assert found.message == (
        "`history[*]` keeps the gradients of tensors that no optimizer has, of one after the other: 1.00 MiB per step."
    )
    assert found.cut == (CutReference("history.grad", TRAIN, 24),)


def test_growth_of_anything_else_is_another_rules() -> None:
    assert check_suspect(suspect()) is None
