"""TN404: an optimizer keeps parameters that nothing trains any more, with their gradients and its state for them."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import GROWING


def check_suspect(suspect: Suspect) -> Finding | None:
    """Parameters that lost their place in a model, or ever more of them, that live on behind an optimizer."""
    in_optimizer = any(hop.source_type.startswith("torch.optim.") for hop in suspect.path)
    if (
        not in_optimizer
        or _by_a_function(suspect)
        or suspect.through_graph
        or (suspect.symptom in GROWING and suspect.holder.element)  # ever more optimizers, not one that gets more
        or suspect.symptom not in ("survivor", *GROWING)
    ):
        return None
    released = suspect.facts.get("released")
    if suspect.symptom in GROWING:
        message = (
            f"{subject(suspect)} {plural(suspect, 'gets', 'get')} ever more parameters and state and "
            f"{plural(suspect, 'gives', 'give')} none up: {growth(suspect)}."
        )
    else:
        what = f"`{released}` was released" if released else "A layer was released"
        message = (
            f"{what}, but {subject(suspect)} still {plural(suspect, 'holds', 'hold')} "
            f"{format_bytes(suspect.retained_bytes)} of it."
        )
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=message,
        remedies=(
            "the optimizer still has the old parameters and their state: make a new optimizer for what is trained "
            "now, or take their group out of `param_groups` and their entries out of `state`",
        ),
    )


def _by_a_function(suspect: Suspect) -> bool:
    """A hook, or what some function closes over, keeps the memory: not the optimizer's own tables."""
    return suspect.holder.kind in ("hook", "closure", "default", "cache")


RULE = Rule(
    code="TN404",
    name="optimizer-keeps-parameters",
    summary="An optimizer keeps the parameters of a replaced or released layer, their gradients and their state.",
    check_suspect=check_suspect,
    priority=21,
)
