"""TN402: whole modules, state dicts or metrics are copied and kept, one more every few steps."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.program.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth made of further objects of one class of module or metric, or of parameter copies."""
    if not suspect.grows or not suspect.copies_of or suspect.through_graph:
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'collects', 'collect')} copies of "
        f"{suspect.copies_of.rsplit('.', 1)[-1]}: {growth(suspect)}.",
        remedies=("keep the last or best copy only, on the CPU, and overwrite it; keep numbers instead of objects",),
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Copies of modules or of their states that are added to a container nothing empties."""
    for gathered in gathered_as(program, "copy"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy="keep the best copy alone, or write it to disk",
        )


RULE = Rule(
    code="TN402",
    name="module-copied-every-step",
    summary="Copies of a model, its state or a metric pile up.",
    check_suspect=check_suspect,
    priority=35,
    check_source=check_source,
)
