"""TN402: whole modules, state dicts or metrics are copied and kept, one more every few steps."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth made of further objects of one class of module or metric, or of parameter copies."""
    if suspect.symptom not in ("growth", "sawtooth") or not suspect.copies_of or suspect.through_graph:
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'collects', 'collect')} copies of "
        f"{suspect.copies_of.rsplit('.', 1)[-1]}: {growth(suspect)}.",
        remedies=("keep the last or best copy only, on the CPU, and overwrite it; keep numbers instead of objects",),
    )


RULE = Rule(
    code="TN402",
    name="module-copied-every-step",
    summary="Copies of a model, its state or a metric pile up.",
    check_suspect=check_suspect,
    priority=35,
)
