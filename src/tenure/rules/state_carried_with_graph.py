"""TN105: a state is carried from step to step with its graph, so that the graph of the whole run hangs on it."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import GROWING, keeps_scalar


def check_suspect(suspect: Suspect) -> Finding | None:
    """A graph grows behind one name that is not a container's element, and what is bound to it is no scalar."""
    if suspect.symptom not in GROWING or not suspect.through_graph or suspect.holder.element or keeps_scalar(suspect):
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


RULE = Rule(
    code="TN105",
    name="state-carried-with-graph",
    summary="A hidden state or running statistic carried over steps chains the graphs of all of them.",
    check_suspect=check_suspect,
    priority=38,
    edit="detach",
)
