"""TN101: a loss (or another output) is kept across steps together with the autograd graph that produced it."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import keeps_losses_carried
from tenure.rules.source_claim import claim_source
from tenure.rules.source_gathered import claim_gathered_graph, gathered_as
from tenure.rules.source_graphs import claim_kept, text_of_value
from tenure.syntax.kept.best_so_far import find_best_so_far
from tenure.syntax.kept.carried_state import find_carried
from tenure.syntax.kept.kept_graphs import find_kept_graphs
from tenure.syntax.kept.logged_by_criteria import find_logged
from tenure.syntax.program.program import Program

_KEEP_THE_VALUE = (
    "keep the value, not the graph: `x.detach()` stays on the device without a synchronisation, `x.item()` is one "
    "number; run what is never trained on under `torch.no_grad()`"
)


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth whose path enters an autograd graph; also where backward freed the buffers and only nodes pile up, and
    losses that are carried into the next forward with graphs that no backward has gone through."""
    if keeps_losses_carried(suspect):
        return _carried(suspect)
    if not suspect.grows or not suspect.through_graph:
        return None
    only_nodes = " (backward freed its buffers: nodes remain)" if suspect.graph_freed else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} the autograd graph of every step"
        f"{only_nodes}: {growth(suspect)}.",
        remedies=(_KEEP_THE_VALUE,),
    )


def _carried(suspect: Suspect) -> Finding:
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} losses together with the graph that made each: "
        f"{format_bytes(suspect.retained_bytes)}, carried from forward to forward.",
        remedies=(_KEEP_THE_VALUE,),
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Sums that carry a graph on, and containers that gain losses, or what a backward pass has been through."""
    states = {id(each.keep.node) for each in find_carried(program) if not each.is_sum}
    for kept in find_kept_graphs(program):
        if (kept.keep.kind == "sum" or kept.is_loss) and id(kept.keep.node) not in states:
            yield claim_kept(
                program,
                kept,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{kept.keep.place}` keeps the autograd graph of every `{text_of_value(kept)}` it is given.",
                remedy="keep the value without its graph: `x.detach()` stays on the device, `x.item()` is one number",
            )
    told = {id(kept.keep.node) for kept in find_kept_graphs(program) if kept.keep.kind == "sum" or kept.is_loss}
    for carried in find_carried(program):
        if carried.is_sum and not program.is_part_of_module(carried.function) and id(carried.keep.node) not in told:
            yield claim_source(
                carried.function,
                carried.keep.node,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{carried.keep.place}` adds up values with the autograd graphs that made them.",
                remedy="add `x.detach()`, or `x.item()` of one number",
            )
    for kept in find_best_so_far(program):
        yield claim_kept(
            program,
            kept,
            rule=RULE.code,
            name=RULE.name,
            message=f"`{kept.keep.place}` keeps the graph that made `{text_of_value(kept)}` until a better one comes.",
            remedy="keep the value without its graph: `x.detach()`, or `x.item()` of one number",
        )
    for kept in find_logged(program):
        yield claim_kept(
            program,
            kept,
            rule=RULE.code,
            name=RULE.name,
            message=f"`{kept.keep.place}` keeps the autograd graph of `{text_of_value(kept)}` until the next log.",
            remedy="log the value without its graph: `x.detach()`",
        )
    for gathered in gathered_as(program, "loss"):
        yield claim_gathered_graph(program, gathered, rule=RULE.code, name=RULE.name)


RULE = Rule(
    code="TN101",
    name="loss-kept-with-graph",
    summary="A loss kept across steps keeps its whole autograd graph.",
    check_suspect=check_suspect,
    priority=40,
    edit="detach",
    check_source=check_source,
)
