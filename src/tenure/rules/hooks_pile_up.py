"""TN303: hooks are registered again and again, or hold what they have seen, and are never removed."""

import ast
from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import GROWING
from tenure.rules.source_claim import claim_source
from tenure.syntax.kept.hook_rings import find_hook_rings
from tenure.syntax.kept.unremoved_hooks import find_left_hooks
from tenure.syntax.program.program import Program


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth of the hooks of a module or tensor themselves, or of what each of them closes over, where several were
    registered at once: not of a container that a hook fills."""
    if suspect.symptom not in GROWING or not (suspect.holder.kind == "hook" or _is_closed_over(suspect)):
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{suspect.holder.expression or suspect.holder.name}` gains hooks that are not removed, and each "
        f"keeps what it closes over: {growth(suspect)}.",
        remedies=(
            "register once, before the loop, or keep the handle that `register_..._hook` returns and call "
            "`handle.remove()` (also in a `finally`); let a hook reach its owner by `weakref`",
        ),
    )


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
            remedy="give the hook what it needs without the tensor: `x.detach()`, or remove it by its handle",
        )


RULE = Rule(
    code="TN303",
    name="hooks-pile-up",
    summary="Hooks are registered at every step or epoch and never removed, each with what it closes over.",
    check_suspect=check_suspect,
    priority=33,
    check_source=check_source,
)
