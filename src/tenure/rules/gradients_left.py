"""TN405: parameters that no optimizer steps keep gradients."""

import dataclasses

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import (
    GRADIENTS_IN_TURN,
    OPTIMIZER_STOPPED,
    PART_WITH_GRADIENTS,
    PARTS_WITH_GRADIENTS,
    TRAINED_BEFORE,
    HoldingReference,
    Suspect,
)
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import short_type


def check_suspect(suspect: Suspect) -> Finding | None:
    """Gradients that stay from step to step and that no optimizer uses, or of ever more tensors."""
    if suspect.symptom == "growth" and GRADIENTS_IN_TURN in suspect.facts:
        return _of_ever_more(suspect)
    if suspect.symptom != "survivor" or "gradients_of" not in suspect.facts:
        return None
    each = "" if str(suspect.facts["gradients_of"]).endswith("Parameter") else ".*"
    gradients = _gradients_of(suspect.holder, each)
    left, before = bool(suspect.facts.get("left_by_backward")), TRAINED_BEFORE in suspect.facts
    stopped = OPTIMIZER_STOPPED in suspect.facts
    no_more = "in an optimizer that steps no more" if stopped else f"in no optimizer{' any more' if before else ''}"
    return claim(
        dataclasses.replace(suspect, holder=gradients if left else suspect.holder, cut=(gradients,)),
        rule=RULE.code,
        name=RULE.name,
        message=f"Parameters of {_whose(suspect)} are {no_more} "
        f"and keep {format_bytes(suspect.retained_bytes)} of gradients{_LEFT if left else ''}.",
        remedies=(_remedy(left=left, stopped=stopped, before=before),),
        at_most="likely",
    )


def _remedy(*, left: bool, stopped: bool, before: bool) -> str:
    if left:
        return _AFTER_THAT_PASS
    return _WITH_THE_OPTIMIZER if stopped else _AFTER_THAT_PHASE if before else _NEVER_TRAINED


def _whose(suspect: Suspect) -> str:
    kind, parts = suspect.facts.get(PART_WITH_GRADIENTS), suspect.facts.get(PARTS_WITH_GRADIENTS)
    of = short_type(str(kind)) if kind else f"{parts} parts" if parts else ""
    return f"{of} in `{suspect.holder.expression}`" if of else f"`{suspect.holder.expression}`"


def _of_ever_more(suspect: Suspect) -> Finding:
    return claim(
        dataclasses.replace(suspect, cut=(_gradients_of(suspect.holder, ""),)),
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} the gradients of tensors that no optimizer "
        f"has, of one after the other: {growth(suspect)}.",
        remedies=(_OF_INPUTS,),
    )


def _gradients_of(holder: HoldingReference, each: str) -> HoldingReference:
    return dataclasses.replace(holder, name=f"{holder.name}{each}.grad", expression=f"{holder.expression}{each}.grad")


_OF_INPUTS = (
    "`x.grad = None` once the gradient is read, or ask for it alone: `torch.autograd.grad(loss, x)` leaves none on `x`"
)
_LEFT = " that a backward pass beside the training's left"
_NEVER_TRAINED = (
    "say that they are not trained, before the first backward: `requires_grad_(False)`; gradients left from an earlier "
    "phase go with `zero_grad(set_to_none=True)` of the module, or `p.grad = None`"
)
_AFTER_THAT_PHASE = (
    "where their training ends `zero_grad(set_to_none=True)` of the module, or `p.grad = None` for each of them"
)
_WITH_THE_OPTIMIZER = (
    "where their training ends `requires_grad_(False)`, for each backward goes on adding to them, and "
    "`zero_grad(set_to_none=True)` of the module"
)
_AFTER_THAT_PASS = (
    "after that pass `zero_grad(set_to_none=True)` of the module; or ask for what is wanted alone, "
    "`torch.autograd.grad(output, inputs)`, which leaves nothing on parameters"
)


RULE = Rule(
    code="TN405",
    name="gradients-left",
    summary="Parameters that no optimizer updates keep their gradients.",
    check_suspect=check_suspect,
    priority=18,
    edit="free-gradients",
)
