"""TN304: a root that no variable shows holds the memory: a handler, a thread's own data, an interpreter's hook, a
function of the program's that stands in a library's module."""

from tenure.model.finding import Finding
from tenure.model.recording import AUTOCAST_CACHE
from tenure.model.rule import Rule
from tenure.model.suspect import LITTLE_OF_ALL, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import CALLBACKS, FUNCTIONS_IN, hidden_root, replaced_function

_LET_GO = (
    "let it go when it has done its work: restore the former handler, `unregister` it, delete the thread's "
    "attribute, join the thread; let a handler reach its owner by `weakref`, and let `weakref.finalize` watch "
    "the object that what its callback holds belongs to"
)
_CASTS = "An autocast region keeps a cast of each weight that it meets, and the weight, until its outermost region ends"
_LEAVE_IT = (
    "enter `torch.autocast` around each call or step instead of all of them, or with `cache_enabled=False` where a "
    "region uses each weight once; `torch.clear_autocast_cache()` empties it at once"
)
_PUT_BACK = (
    "put the former function back when its owner is done, in a `finally`, or put one there once that asks who is "
    "current; each that calls the one before keeps all of them, with what they close over, so let it reach its owner "
    "by `weakref`"
)


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path starts at a hidden root; what is in use anyway during a step is not told."""
    root = hidden_root(suspect)
    if not root or suspect.symptom == "peak":
        return None
    what = growth(suspect) if suspect.grows else format_bytes(suspect.retained_bytes)
    if root == AUTOCAST_CACHE:
        return claim(suspect, rule=RULE.code, name=RULE.name, message=f"{_CASTS}: {what}.", remedies=(_LEAVE_IT,))
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"The {root} {_says_what_it_holds(suspect, root)}: {what}.",
        remedies=(_PUT_BACK if replaced_function(suspect) else _LET_GO,),
        at_most="possible" if LITTLE_OF_ALL in suspect.facts else "certain",
    )


def _says_what_it_holds(suspect: Suspect, root: str) -> str:
    several = root.startswith((CALLBACKS, FUNCTIONS_IN))
    return "hold what they were given" if several else f"holds `{_held(suspect)}`"


def _held(suspect: Suspect) -> str:
    return suspect.holder.name if suspect.holder.kind == "handler" else suspect.holder.expression or suspect.holder.name


RULE = Rule(
    code="TN304",
    name="hidden-root-holds",
    summary="A signal or exit handler, a thread's data or another root that no variable shows holds the memory.",
    check_suspect=check_suspect,
    priority=18,
)
