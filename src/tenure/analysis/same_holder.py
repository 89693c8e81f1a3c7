"""One holder, one telling: what a reference keeps for good, and what it carries or leaves idle at a peak."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from tenure.model.finding import Confidence, Finding

_LINE = re.compile(r":\d+\)$")


def join_same_holder(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings; what is idle at the peak, or carried into the forward, by a reference that a survivor, or growth
    that is no mere hint, is told by, or by the table of an entry that grows, becomes that one's evidence.

    The lasting one's rule stays, with the figures of the peak where it has none. That a sure finding saw the memory
    idle makes a possible survivor likely.
    """
    told: list[Finding] = []
    joined: set[int] = set()
    for finding in findings:
        peaks = [at for at, other in enumerate(findings) if _is_same(finding, other)]
        for at in peaks:
            finding = _with_peak(finding, findings[at])
        joined.update(peaks)
        told.append(finding)
    return tuple(finding for at, finding in enumerate(told) if at not in joined)


def hangs_below(finding: Finding, other: Finding) -> bool:
    """Whether a finding's reference is inside of what the other's leads to, `batch.rows` below `batch`: it goes with
    that one."""
    above = other.holder.expression
    inside = finding.holder.expression[len(above) :] if above and finding.holder.expression.startswith(above) else ""
    return inside[:1] in (".", "[") and _root(finding) == _root(other) and finding.ranks == other.ranks


def _root(finding: Finding) -> str:
    """The root of its path, without the line that ran there at that moment."""
    return _LINE.sub(")", finding.path[0]) if finding.path else ""


def with_other(finding: Finding, other: Finding, num_bytes: int) -> Finding:
    """The finding with what the other told, of so many of its bytes, as evidence (kind "also")."""
    also = {
        "kind": "also",
        "rule": other.rule,
        "expression": other.holder.expression or other.holder.name,
        "file": other.holder.file,
        "line": other.holder.line,
        "bytes": num_bytes,
    }
    return dataclasses.replace(finding, evidence=(*finding.evidence, also))


def _is_same(finding: Finding, other: Finding) -> bool:
    one, two = finding.holder, other.holder
    same = (one.file, one.line, table_of(one.name)) == (two.file, two.line, table_of(two.name)) and one.file is not None
    carries = one.file is not None and _reference(finding) == _reference(other) and not one.expression.endswith("[*]")
    surely_grows = finding.symptom in ("growth", "sawtooth") and finding.confidence != "possible"
    is_told_with = other.peak_drop_bytes is not None or other.confidence == "possible"
    lasts = finding.symptom == "survivor" or (surely_grows and is_told_with)
    is_part = same and one.name != two.name and (other.retained_bytes or 0) <= (finding.retained_bytes or 0)
    told = (same and lasts) or ((carries or is_part) and surely_grows)
    return told and other.symptom == "peak" and finding.ranks == other.ranks


def table_of(name: str) -> str:
    """`stats` of `stats['loss']`."""
    return name.partition("[")[0]


def _reference(finding: Finding) -> tuple[str | None, str | None, str]:
    """What a finding's holder goes by, whichever of its statements is told.

    One reference that grows leads to all that it carries; of a collection an element may be carried by itself.
    """
    holder = finding.holder
    return holder.file, holder.function, holder.expression or holder.name


def _with_peak(finding: Finding, peak: Finding) -> Finding:
    finding = with_other(finding, peak, peak.retained_bytes or 0)
    sure: Confidence = "likely" if peak.confidence != "possible" else "possible"
    finding = dataclasses.replace(finding, confidence=sure if finding.confidence == "possible" else finding.confidence)
    if finding.peak_bytes is not None or peak.peak_bytes is None:
        return finding
    return dataclasses.replace(
        finding, peak_bytes=peak.peak_bytes, peak_drop_bytes=peak.peak_drop_bytes, peak_basis=peak.peak_basis
    )
