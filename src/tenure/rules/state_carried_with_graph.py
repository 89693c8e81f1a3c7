"""TN105: a state is carried from step to step with its graph, so that the graph of the whole run hangs on it."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import OF_LOSSES, Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import keeps_scalar
from tenure.rules.source_claim import claim_source
from tenure.syntax.kept.carried_state import find_carried
from tenure.syntax.program.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """A graph grows behind one name that is not a container's element, and what is bound to it is no loss."""
    if not suspect.grows or not suspect.through_graph or suspect.holder.element or _is_loss(suspect):
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'is', 'are')} carried from step to step with "
        f"{plural(suspect, 'its', 'their')} graph, which reaches back to the first step: {growth(suspect)}.",
        remedies=(
            "cut the graph where the state passes from one step to the next: `state = state.detach()`; update what "
            "is never trained through under `torch.no_grad()`",
        ),
    )


def _is_loss(suspect: Suspect) -> bool:
    """Whether a scalar is kept; but for a running average, not of losses by its text, that no backward went through."""
    is_statistic = suspect.facts.get("kept_average") and not suspect.graph_freed and OF_LOSSES not in suspect.facts
    return keeps_scalar(suspect) and (not is_statistic or suspect.holder.names_a_loss)


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Modules' own attributes, and states handed from turn to turn, that lead to their last value by its graph.

    What a module changes of another object, such as an output that it just made, is not its state.
    """
    for carried in find_carried(program):
        in_module = program.is_part_of_module(carried.function)
        if carried.keep.place.startswith("self.") if in_module else not carried.is_sum:
            yield claim_source(
                carried.function,
                carried.keep.node,
                rule=RULE.code,
                name=RULE.name,
                message=f"`{carried.keep.place}` is computed from its last value with the graph of every step before.",
                remedy="carry it on without its graph: `.detach()`, or update it under `torch.no_grad()`",
            )


RULE = Rule(
    code="TN105",
    name="state-carried-with-graph",
    summary="A hidden state or running statistic carried over steps chains the graphs of all of them.",
    check_suspect=check_suspect,
    priority=38,
    edit="detach",
    check_source=check_source,
)
