"""TN103: tensors set as attributes on a custom autograd Function's ctx outlive backward."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim


def check_suspect(suspect: Suspect) -> Finding | None:
    """The memory is held by an attribute of a custom Function's ctx, and nothing of the user's but the ctx holds it."""
    on_ctx = suspect.facts.get("ctx_attribute")
    if not on_ctx or not (suspect.cyclic or suspect.holder.owner_type.endswith("Backward")):
        return None
    function = str(suspect.facts.get("ctx_type", "a custom Function")).rpartition(".")[2].removesuffix("Backward")
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`ctx.{on_ctx}` of {function} keeps a tensor where backward does not free it"
        f"{', and closes a cycle through its own graph' if suspect.cyclic else ''}.",
        remedies=(
            "pass it through `ctx.save_for_backward(...)` and read `ctx.saved_tensors`: those are freed by backward, "
            "and an output saved that way makes no cycle",
        ),
    )


RULE = Rule(
    code="TN103",
    name="tensors-kept-on-ctx",
    summary="A tensor set on a custom Function's ctx stays until the graph goes; an output set there makes a cycle.",
    check_suspect=check_suspect,
    priority=10,
    edit="save-for-backward",
)
