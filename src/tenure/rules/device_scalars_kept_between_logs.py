"""TN201: one scalar tensor per step is kept in a container, on the device, until a log (or for ever)."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, count, subject


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


RULE = Rule(
    code="TN201",
    name="device-scalars-kept-between-logs",
    summary="Losses or metrics are kept as one tensor per step in a container.",
    check_suspect=check_suspect,
    priority=50,
)
