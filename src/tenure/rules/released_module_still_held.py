"""TN401: a module was let go by one name and is still held by another."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, plural, subject

_EVERY_REFERENCE = "drop every reference listed under `to free`; detach what is cached from its outputs"


def check_suspect(suspect: Suspect) -> Finding | None:
    """Parameters or modules that lost the binding they were used by, and live on."""
    if suspect.symptom != "survivor" or "pinned_by_views" in suspect.facts:
        return None
    released = suspect.facts.get("released")
    replaced = bool(suspect.facts.get("replaced"))
    # A model may call a layer that it keeps in a list of its own, and a function of the program's own may use weights
    # without their module, unless the profiled steps touched none of them; and what rests may be called again.
    guessed = bool(suspect.facts.get("weights_only")) and suspect.peak_drop_bytes is None
    resting = "last_called_step" in suspect.facts
    what = f"`{released}` was {'replaced' if replaced else 'released'}" if released else "A module was released"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{what}, but {subject(suspect)} still {plural(suspect, 'holds', 'hold')} "
        f"{format_bytes(suspect.retained_bytes)} of it.",
        remedies=(*_of_a_function(suspect), _EVERY_REFERENCE),
        at_most="possible" if suspect.facts.get("doubt") else "likely" if replaced or guessed or resting else "certain",
    )


def _of_a_function(suspect: Suspect) -> tuple[str, ...]:
    """Where a function closes over it, what leads to that function: nobody sets a variable of a call that is over."""
    if suspect.holder.kind != "closure" or not suspect.path_text:
        return ()
    return (f"let go of the function that closes over `{suspect.holder.name}`: {suspect.path_text[0]} leads to it",)


RULE = Rule(
    code="TN401",
    name="released-module-still-held",
    summary="A module was deleted, unloaded or replaced, and something else still holds its memory.",
    check_suspect=check_suspect,
    priority=25,
    edit="drop",
)
