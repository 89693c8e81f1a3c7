"""TN403: a module was used for a while, nobody calls it any more, and it still lies on its device."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import NEVER_CALLED, PASSED_BY, STILL_USED, UNREAD_MODULE, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, plural, subject

NOTABLE_BYTES = 128 << 10
"""Less is a hint: of what the program is to be it may be next to nothing."""

_FROM_OPTIMIZER = (
    "the optimizer that goes on has its parameters and their state too: make a new one for what is still trained, or "
    "take the group out of `param_groups` and each of its parameters out of `state`"
)

_BY_A_HOOK = "take the hook off where the work of the object ends whose method it calls: `handle.remove()`"
_COPY_WHAT_IS_USED = "keep copies of what is still used (`buffer.clone()`), not the module, nor a method of it"


def check_suspect(suspect: Suspect) -> Finding | None:
    """Modules that were called up to one step and never again, which no optimizer steps, of which nobody let go."""
    if UNREAD_MODULE in suspect.facts:
        return _unread(suspect)
    if suspect.symptom != "survivor" or "last_called_step" not in suspect.facts or "released" in suspect.facts:
        return None
    step = suspect.facts["last_called_step"]
    when = f"after step {step}" if step else "since the first step began"
    called = "nobody was seen to call" if NEVER_CALLED in suspect.facts else f"was not seen called {when}"
    passed = PASSED_BY in suspect.facts
    trained = "which no optimizer steps" if passed or "in_optimizer" in suspect.facts else "is in no optimizer"
    used = suspect.facts.get(STILL_USED)
    module = str(suspect.facts.get("module", "module")).rpartition(".")[2]
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} {format_bytes(suspect.retained_bytes)} of "
        f"{module} on {suspect.device}, which {called} and {trained}"
        + (f"; {format_bytes(int(str(used)))} of it are still used." if used else "."),
        remedies=(
            *((_COPY_WHAT_IS_USED,) if used else ()),
            *((_BY_A_HOOK,) if suspect.holder.kind == "hook" else ()),
            "where its work ends, delete every reference listed under `to free`; or move it away until it is "
            'needed again: `.to("cpu")`, or `.to("meta")` where it never is',
            *((_FROM_OPTIMIZER,) if passed else ()),
        ),
        at_most="possible" if suspect.facts.get("doubt") else "likely",
    )


def _unread(suspect: Suspect) -> Finding:
    """A module that only variables hold which no statement of their running function reads any more."""
    module = str(suspect.facts[UNREAD_MODULE]).rpartition(".")[2]
    names = ", ".join(dict.fromkeys(each.name for each in suspect.cut))
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"No statement reads {subject(suspect)} any more, but {plural(suspect, 'it keeps', 'they keep')} "
        f"{format_bytes(suspect.retained_bytes)} of {module} on {suspect.device} in every step.",
        remedies=(f"`del {names}` after the last use",),
        at_most="certain" if suspect.retained_bytes >= NOTABLE_BYTES else "possible",
    )


RULE = Rule(
    code="TN403",
    name="idle-module",
    summary="A module that nobody calls any more still lies on its device.",
    check_suspect=check_suspect,
    priority=19,
    edit="drop",
)
