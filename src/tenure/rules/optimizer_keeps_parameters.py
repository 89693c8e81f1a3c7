"""TN404: an optimizer keeps parameters that nothing trains any more, with their gradients and its state for them."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, plural, subject


def check_suspect(suspect: Suspect) -> Finding | None:
    """Parameters that lost their place in a model and live on behind an optimizer."""
    if suspect.symptom != "survivor" or not any(hop.source_type.startswith("torch.optim.") for hop in suspect.path):
        return None
    released = suspect.facts.get("released")
    what = f"`{released}` was released" if released else "A layer was released"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{what}, but {subject(suspect)} still {plural(suspect, 'holds', 'hold')} "
        f"{format_bytes(suspect.retained_bytes)} of it.",
        remedies=(
            "the optimizer still has the old parameters and their state: make a new optimizer for what is trained "
            "now, or take their group out of `param_groups` and their entries out of `state`",
        ),
    )


RULE = Rule(
    code="TN404",
    name="optimizer-keeps-parameters",
    summary="An optimizer keeps the parameters of a replaced or released layer, their gradients and their state.",
    check_suspect=check_suspect,
    priority=21,
)
