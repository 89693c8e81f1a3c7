"""TN602: a data set of many small Python objects is copied by each forked worker, for reading them."""

from __future__ import annotations

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth, subject


def check_suspect(suspect: Suspect) -> Finding | None:
    """The kernel counts shared pages of workers that became private, and the data set leads to a large container."""
    copied = suspect.facts.get("copied_after_fork")
    if not isinstance(copied, int):
        return None
    workers, elements = suspect.facts["workers_read"], suspect.facts["elements"]
    several = f"the {workers} workers looked at have" if workers != 1 else "the worker looked at has"
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"{subject(suspect)} ({elements:,} × `{suspect.facts['element_type']}`) is copied by being read: "
        f"reading writes reference counts. By step {suspect.last_step} {several} copied {format_bytes(copied)} of what "
        f"was shared with this process after the fork, {growth(suspect)}.",
        remedies=(
            "keep the samples in one NumPy array, tensor or Arrow table, texts as bytes with offsets: they have one "
            "reference count for all, so that forked workers go on sharing them",
        ),
        at_most="likely" if suspect.holder.sites and not suspect.ambiguous else "possible",
    )


RULE = Rule(
    code="TN602",
    name="dataset-copied-by-workers",
    summary="A data set of many small Python objects is copied by every forked worker, page by page, by being read.",
    check_suspect=check_suspect,
    priority=4,
)
