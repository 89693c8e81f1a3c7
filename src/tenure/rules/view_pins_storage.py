"""TN204: a small view is kept, and with it the whole storage it is a view of."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, plural, subject
from tenure.rules.source_gathered import claim_gathered, gathered_as
from tenure.syntax.program.program import Program

PINNED_SHARE = 0.5
"""From this share of the storages' bytes on, what is kept is mostly what no view shows."""


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth of storages whose kept views cover less than half of them, or a container full of such views."""
    total = sum(suspect.bytes_by_role.values())
    collects = suspect.grows or "pinned_by_views" in suspect.facts
    if not collects or suspect.through_graph or suspect.pinned_bytes < max(1, PINNED_SHARE * total):
        return None
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} {plural(suspect, 'keeps', 'keep')} small views of large tensors: at least "
        f"{format_bytes(suspect.pinned_bytes)} of {format_bytes(total)} lie outside of what the views show.",
        remedies=(
            "copy what is kept, so that the rest can go: `x[:, -1].clone()`, `row.detach().clone()`, or `.item()` for "
            "one number; `.detach()` alone shares the storage",
        ),
    )


def check_source(program: Program) -> Iterator[SourceFinding]:
    """Parts of larger tensors that are stored as views."""
    for gathered in gathered_as(program, "view"):
        yield claim_gathered(
            gathered,
            rule=RULE.code,
            name=RULE.name,
            remedy="store `.clone()` of the part, so that the rest can go",
            said="a view of a larger tensor, ",
        )


RULE = Rule(
    code="TN204",
    name="view-pins-storage",
    summary="A slice, row or 0-d result is kept, and keeps the whole storage it was cut from.",
    check_suspect=check_suspect,
    priority=45,
    edit="clone",
    check_source=check_source,
)
