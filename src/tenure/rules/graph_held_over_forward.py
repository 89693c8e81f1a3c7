"""TN102: the last step's graph or outputs are still bound while the next forward runs."""

from tenure.model.finding import AUTOGRAD_NODE_BYTES, Finding
from tenure.model.rule import Rule
from tenure.model.suspect import ADDS_TO_NO_PEAK, CUT_IN_LIBRARY, EVALUATED_WITH_GRAPH, Suspect
from tenure.rules.claim import claim, plural, subject
from tenure.rules.path_questions import collects_unused_graphs, is_left_on_a_layer, short_type

NOTABLE_SHARE = 0.10
"""Of the profiled step's peak: outputs that take so much off it are told, however small."""
NOTABLE_OUTPUTS = 1 << 20
"""Nearly every loop keeps its last outputs bound; without a graph behind them, less than this is worth a hint only."""

NOTABLE_GRAPH = 64 << 10
"""With what its nodes weigh: of a graph that backward went through a few nodes may be left, and the loss."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Memory of a past step's forward, carried into the next one but not growing; what hooks left on layers, without a
    graph, may be read there."""
    made_by_forward = suspect.through_graph or suspect.bytes_by_role.get("ACTIVATION", 0) > 0
    left_by_hook = not made_by_forward and is_left_on_a_layer(suspect)
    if suspect.symptom != "peak" or not (made_by_forward or left_by_hook) or collects_unused_graphs(suspect):
        return None
    if EVALUATED_WITH_GRAPH in suspect.facts:
        return None
    what = "graph" if suspect.through_graph else "tensors" if left_by_hook else "outputs"
    names = list(dict.fromkeys(each.name for each in suspect.cut if each.kind in ("local", "global")))
    its = "its" if len(names) == 1 else "their"
    drop = f"`del {', '.join(names)}` after {its} last use in the step" if names else "drop it before the next forward"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} still {plural(suspect, 'holds', 'hold')} step N's {what} "
        "while step N+1's forward runs.",
        remedies=(f"{drop}; keep only detached scalars (`.item()`, `.detach()`) for later", *_off_the_ctx(suspect)),
        at_most="certain" if _matters(suspect) and not left_by_hook and _can_be_dropped(suspect) else "possible",
    )


def _off_the_ctx(suspect: Suspect) -> tuple[str, ...]:
    """What else helps where backward has freed the graph, but for what a custom Function has on its ctx."""
    if not suspect.facts.get("left_on_ctx"):
        return ()
    attribute = suspect.facts["ctx_attribute"]
    function = short_type(str(suspect.facts.get("ctx_type", "the Function"))).removesuffix("Backward")
    return (
        f"or pass `{attribute}` of {function} through `ctx.save_for_backward(...)`: what backward frees is not carried",
    )


def _matters(suspect: Suspect) -> bool:
    """A graph that is more than a few nodes, many bytes, or outputs that the profiled step shows to add to its peak."""
    of_peak = (suspect.peak_drop_bytes or 0) / (suspect.peak_bytes or 1)
    many = suspect.retained_bytes >= NOTABLE_OUTPUTS and ADDS_TO_NO_PEAK not in suspect.facts
    graph = suspect.retained_bytes + suspect.num_graph_nodes * AUTOGRAD_NODE_BYTES if suspect.through_graph else 0
    return graph >= NOTABLE_GRAPH or many or of_peak >= NOTABLE_SHARE


def _can_be_dropped(suspect: Suspect) -> bool:
    """By the user alone: what a library's objects keep as well, as its caches, does not go with the user's names."""
    return CUT_IN_LIBRARY not in suspect.facts


RULE = Rule(
    code="TN102",
    name="graph-held-over-forward",
    summary="The previous step's graph or outputs stay bound while the next forward runs, and add to the peak.",
    check_suspect=check_suspect,
    priority=30,
    edit="drop",
)
