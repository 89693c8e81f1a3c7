"""TN303: hooks are registered again and again, or hold what they have seen, and are never removed."""

import ast
import dataclasses
from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import HOOKS_PER_STEP, OWN_HOOK, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.source_claim import claim_source
from tenure.syntax.kept.hook_rings import find_hook_rings
from tenure.syntax.kept.unremoved_hooks import find_left_hooks
from tenure.syntax.program.program import Program

_EACH = "[*]"
_REGISTERED = (
    "register once, before the loop, or keep the handle that `register_..._hook` returns and call `handle.remove()` "
    "(also in a `finally`); let a hook reach its owner by `weakref`"
)
_HANDED_OVER = (
    "hand the function over once, before the loop, or take it out again where its turn ends, by what the call that "
    "takes it gives back (`handle.remove()`) or by the call that undoes it"
)
_WITHOUT_IT = "give the hook what it needs without the tensor: `x.detach()`, or remove it by its handle"


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth of the hooks of a module or tensor themselves, or of what each of them closes over, where several were
    registered at once: not of a container that a hook fills. A ring through the hooks of a tensor that it leads to."""
    if suspect.cyclic and OWN_HOOK in suspect.facts:
        return _ring(suspect)
    if HOOKS_PER_STEP in suspect.facts:
        return _newest(suspect)
    if not suspect.grows or not (suspect.holder.kind == "hook" or _is_closed_over(suspect)):
        return None
    suspect = _with_function(suspect)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{suspect.holder.expression or suspect.holder.name}` gains hooks that are not removed, and each "
        f"keeps what it closes over: {growth(suspect)}.",
        remedies=(_HANDED_OVER if _is_anothers_table(suspect) else _REGISTERED,),
    )


def _newest(suspect: Suspect) -> Finding:
    """More and more hooks, of which the newest hold what they saw until the next ones see more."""
    suspect = _with_function(suspect)
    name, number = suspect.holder.expression or suspect.holder.name, float(str(suspect.facts[HOOKS_PER_STEP]))
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{name}` gains hooks that are not removed, {number:.3g} per step; the newest hold "
        f"{format_bytes(suspect.retained_bytes)} into the next forward.",
        remedies=(_REGISTERED,),
    )


def _is_anothers_table(suspect: Suspect) -> bool:
    """Whether a library keeps the functions in a table of its own, none of torch's: those are all named for hooks."""
    of_library = bool(suspect.holder.library_sites or suspect.holder.inside)
    return of_library and "hook" not in suspect.holder.expression


def _ring(suspect: Suspect) -> Finding:
    name = suspect.holder.expression or suspect.holder.name
    both = f"A tensor and its hook of `{name}`" if name.endswith(")") else f"A hook of a tensor and `{name}`"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{both} lead to each other: a ring through autograd that holds "
        f"{format_bytes(suspect.retained_bytes)} and that no collection frees.",
        remedies=(_WITHOUT_IT,),
    )


def _with_function(suspect: Suspect) -> Suspect:
    """The suspect; its entries go by the function that most of them call, `_forward_hooks[note]`, where that has a
    name."""
    called, holder = suspect.holder.calls.rpartition(".")[2], suspect.holder
    if not called.isidentifier() or not holder.expression.endswith(_EACH):
        return suspect
    expression = f"{holder.expression.removesuffix(_EACH)}[{called}]"
    return dataclasses.replace(suspect, holder=dataclasses.replace(holder, expression=expression))


def _is_closed_over(suspect: Suspect) -> bool:
    """Whether the holder is a variable that more and more functions among a tensor's or module's hooks close over."""
    by_hooks = any(hop.kind == "HOOK" for hop in suspect.path)
    gains = bool(suspect.growth_objects_per_step) and not suspect.holder.element
    return by_hooks and gains and suspect.holder.kind == "closure"


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Hooks that are registered again and again: with no handle, one that is overwritten, or one that nobody uses."""
    for left in find_left_hooks(program):
        yield claim_source(
            left.function,
            left.call,
            rule=RULE.code,
            name=RULE.name,
            message=f"`{ast.unparse(left.call.func)}` registers another hook each time; its handle is {left.why}.",
            remedy="register once, before the loop, or keep the handle and call `handle.remove()`",
        )
    for ring in find_hook_rings(program):
        yield claim_source(
            ring.function,
            ring.call,
            rule=RULE.code,
            name=RULE.name,
            message=f"the hook of `{ring.tensor}` leads back to it: a ring through autograd that no collection frees.",
            remedy=_WITHOUT_IT,
        )


RULE = Rule(
    code="TN303",
    name="hooks-pile-up",
    summary="Hooks are registered at every step or epoch and never removed, each with what it closes over.",
    check_suspect=check_suspect,
    priority=29,
    check_source=check_source,
)
