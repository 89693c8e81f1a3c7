"""TN107: outputs, features or hidden states are collected with the graph that made each of them."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import OF_LOSSES, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, nodes_per_step, outweighs_tensors, plural, subject, within_evaluation
from tenure.rules.path_questions import collects_unused_graphs, keeps_losses_carried, keeps_scalar
from tenure.rules.source_gathered import claim_gathered_graph, gathered_as
from tenure.rules.source_graphs import claim_kept, text_of_value
from tenure.syntax.kept.carried_state import find_carried
from tenure.syntax.kept.kept_graphs import find_kept_graphs
from tenure.syntax.program.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """A container gains tensors of more than one element, each with its graph, or has some whose graphs no backward has
    gone through while the next forward runs."""
    collects = suspect.grows and suspect.holder.element
    keeps = collects and (_keeps_graphs_of_tensors(suspect) or _keeps_graphs_of_an_evaluation(suspect))
    if not keeps and (not collects_unused_graphs(suspect) or keeps_losses_carried(suspect)):
        return None
    shape = suspect.facts.get("kept_shape")
    what = f"tensors of shape {shape}" if shape else "tensors"
    size = growth(suspect) if keeps else f"{format_bytes(suspect.retained_bytes)}, carried from forward to forward"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{_keeper(suspect)} {what} together with the graph that made each: {size}.",
        remedies=(
            "store `x.detach()` (a copy on the CPU, `x.detach().cpu()`, where many are kept); run evaluation and "
            "inference under `torch.no_grad()` or `torch.inference_mode()`",
        ),
    )


def _keeper(suspect: Suspect) -> str:
    if suspect.symptom == "peak" and not suspect.holder.element:
        return f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')}"
    return f"{subject(suspect)} {plural(suspect, 'collects', 'collect')}"


def _keeps_graphs_of_tensors(suspect: Suspect) -> bool:
    through = suspect.through_graph and not keeps_scalar(suspect) and not _keeps_several_losses(suspect)
    return through or _gains_more_graph_than_tensors(suspect)


def _keeps_several_losses(suspect: Suspect) -> bool:
    """Whether each of what is collected is a row of losses, of tasks or of samples."""
    return OF_LOSSES in suspect.facts and "," not in str(suspect.facts.get("kept_shape"))


def _gains_more_graph_than_tensors(suspect: Suspect) -> bool:
    """Whether the results collected are outweighed by their nodes, whose buffers backward has freed."""
    by_role = suspect.bytes_by_role
    results = bool(by_role) and by_role.get("ACTIVATION", 0) == sum(by_role.values())
    many = nodes_per_step(suspect) >= 1 and outweighs_tensors(suspect)
    return results and many and not (suspect.scalars or suspect.through_graph)


def _keeps_graphs_of_an_evaluation(suspect: Suspect) -> bool:
    """No evaluation has a use for graphs, whether they or the outputs weigh more."""
    return within_evaluation(suspect) and nodes_per_step(suspect) >= 1


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Containers that gain outputs or features as a module returned them, where autograd is on."""
    carried = {id(each.keep.node) for each in find_carried(program)}
    for kept in find_kept_graphs(program):
        if kept.keep.kind == "element" and not kept.is_loss and id(kept.keep.node) not in carried:
            yield claim_kept(
                program,
                kept,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{kept.keep.place}` collects `{text_of_value(kept)}` together with the graph that made it.",
                remedy="store `x.detach()`, or run what is not trained on under `torch.no_grad()`",
            )
    for gathered in gathered_as(program, "outputs"):
        yield claim_gathered_graph(program, gathered, rule=RULE.code, name=RULE.name)


RULE = Rule(
    code="TN107",
    name="outputs-kept-with-graph",
    summary="Outputs or features are collected without detaching them, so each keeps its whole graph.",
    check_suspect=check_suspect,
    priority=39,
    edit="detach",
    check_source=check_source,
)
