"""TN101: a loss (or another output) is kept across steps together with the autograd graph that produced it."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth whose path enters an autograd graph; also where backward freed the buffers and only nodes pile up."""
    if suspect.symptom not in ("growth", "sawtooth") or not suspect.through_graph:
        return None
    only_nodes = " (backward freed its buffers: nodes remain)" if suspect.graph_freed else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} the autograd graph of every step"
        f"{only_nodes}: {growth(suspect)}.",
        remedies=(
            "keep the value, not the graph: `x.detach()` stays on the device without a synchronisation, `x.item()` is "
            "one number; run what is never trained on under `torch.no_grad()`",
        ),
    )


RULE = Rule(
    code="TN101",
    name="loss-kept-with-graph",
    summary="A loss kept across steps keeps its whole autograd graph.",
    check_suspect=check_suspect,
    priority=40,
    edit="detach",
)
