"""TN201: one scalar tensor per step is kept in a container, on the device, until a log (or for ever)."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, count, subject
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.program.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth or sawtooth of one-element tensors without a graph."""
    if suspect.symptom not in ("growth", "sawtooth") or suspect.through_graph or not suspect.scalars:
        return None
    pinned = " Each is a view of a larger storage, which stays with it." if suspect.pinned_bytes else ""
    period = f", until it is emptied every {suspect.period_steps} steps" if suspect.period_steps else ""
    per_step = suspect.growth_objects_per_step or 1
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} gains {count(per_step, 'scalar tensor')} per step{period}.{pinned}",
        remedies=(
            "add each into one running tensor on the device (`total += loss.detach()`, a counter beside it) and read "
            "it with `.item()` only when logging: constant memory, no synchronisation per step",
        ),
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Lists of one-number tensors that gain one each step and are emptied at intervals or never."""
    for gathered in gathered_as(program, "number"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy="add up on the device (`total += loss.detach()`), or keep `loss.item()`",
        )


RULE = Rule(
    code="TN201",
    name="device-scalars-kept-between-logs",
    summary="Losses or metrics are kept as one tensor per step in a container.",
    check_suspect=check_suspect,
    priority=50,
    check_source=check_source,
)
