"""TN202: a list, deque, set or log gains tensors with every step and nothing takes them out."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth, plural, subject
from tenure.rules.path_questions import GROWING, is_dict


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth by elements of a sequence or set, or of a dict whose keys merely count."""
    if suspect.symptom not in GROWING or suspect.through_graph or not suspect.holder.element:
        return None
    is_mapping = is_dict(suspect.holder.container_type) or "keys" in suspect.facts
    if is_mapping and not suspect.facts.get("keys_count_up"):
        return None
    until = f", until emptied every {suspect.period_steps} steps" if suspect.period_steps else ""
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'gains', 'gain')} tensors and loses none{until}: "
        f"{growth(suspect)}.",
        remedies=(
            "keep a number, a running sum or a `deque(maxlen=n)` instead of every tensor; move to the CPU or to disk "
            "what must be kept",
        ),
        at_most="certain" if suspect.symptom == "growth" else "possible",
    )


RULE = Rule(
    code="TN202",
    name="tensors-collected",
    summary="Predictions, samples, features or batches are appended at every step and never taken out.",
    check_suspect=check_suspect,
    priority=60,
)
