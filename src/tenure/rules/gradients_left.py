"""TN405: parameters that no optimizer has keep gradients."""

import dataclasses

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim


def check_suspect(suspect: Suspect) -> Finding | None:
    """Gradients that stay from step to step and that no optimizer uses."""
    if suspect.symptom != "survivor" or "gradients_of" not in suspect.facts:
        return None
    each = "" if str(suspect.facts["gradients_of"]).endswith("Parameter") else ".*"
    gradients = dataclasses.replace(suspect.holder, name=f"{suspect.holder.name}{each}.grad")
    return claim(
        dataclasses.replace(suspect, cut=(gradients,)),
        rule=RULE.code,
        name=RULE.name,
        message=f"Parameters of `{suspect.holder.expression}` are in no optimizer and keep "
        f"{format_bytes(suspect.retained_bytes)} of gradients.",
        remedies=(
            "say that they are not trained, before the first backward: `requires_grad_(False)`; gradients left from "
            "an earlier phase go with `zero_grad(set_to_none=True)` of the module, or `p.grad = None`",
        ),
        at_most="likely",
    )


RULE = Rule(
    code="TN405",
    name="gradients-left",
    summary="Parameters that no optimizer updates keep their gradients.",
    check_suspect=check_suspect,
    priority=18,
    edit="free-gradients",
)
