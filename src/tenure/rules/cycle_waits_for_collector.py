"""TN301: tensor memory is held by a reference cycle that nothing else reaches, until the collector runs."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim


def check_suspect(suspect: Suspect) -> Finding | None:
    """No root reaches the memory; the ring that keeps it is known."""
    if not suspect.cyclic:
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{suspect.holder.expression or suspect.holder.name}` closes a reference cycle that holds "
        f"{format_bytes(suspect.retained_bytes)} no one can use any more; only the cyclic collector frees it.",
        remedies=(
            "break the ring: hold the owner weakly (`weakref.ref`, `weakref.proxy`), pass it as an argument, or set "
            "the reference to None when done; do not copy objects that refer back to their owner",
        ),
    )


RULE = Rule(
    code="TN301",
    name="cycle-waits-for-collector",
    summary="Memory sits in reference cycles until the garbage collector happens to run.",
    check_suspect=check_suspect,
    priority=20,
    edit="without-traceback",
)
