"""TN305: generators or coroutines are left suspended, and each holds its variables."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import CARRIED_ON, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import suspended_hop


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path goes through a suspended generator's or coroutine's variable; a loop's own generator is in use, and so
    is one that fills what grows, or makes it from what it has made before."""
    hop = suspended_hop(suspect)
    if hop is None or suspect.symptom == "peak" or suspect.facts.get("fills_running") or CARRIED_ON in suspect.facts:
        return None
    what = growth(suspect) if suspect.grows else format_bytes(suspect.retained_bytes)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"Suspended `{hop.source_name or hop.source_type}` still holds `{hop.label}`, and nothing resumes or "
        f"closes it: {what}.",
        remedies=(
            "run it to its end or `close()` it (`contextlib.closing`), drop finished requests from the list of "
            "generators, or `del` the variable before `yield`",
        ),
    )


RULE = Rule(
    code="TN305",
    name="suspended-frames",
    summary="Generators, coroutines or their like are left suspended, and each keeps its local variables alive.",
    check_suspect=check_suspect,
    priority=24,
)
