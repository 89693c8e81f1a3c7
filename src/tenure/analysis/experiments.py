"""Which experiments would test findings, and what their results say of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args

from tenure.model.experiment import (
    CONFIRMED_SHARE,
    CONTRADICTED_SHARE,
    REFUTED_SHARE,
    ExperimentKind,
    ExperimentResult,
    PlannedExperiment,
)
from tenure.model.finding import Confidence, Finding, evidence_of
from tenure.model.heap import Census
from tenure.model.recording import PEAK, is_at_state_call

MOST_FINDINGS = 12
"""Findings that are tested, those that save most first."""
LEAST_PRESENT = 0.2
"""Below this share of its memory still there, an experiment says nothing of a finding."""


def plan_experiments(findings: Sequence[Finding], censuses: Sequence[Census]) -> tuple[PlannedExperiment, ...]:
    """Each finding's cut dropped on its own; then a collection, where rings wait for one, and torch's caches cleared.

    What is alive only inside a step is not there any more, or not yet, where the copy was made: it is left out. By the
    censuses in which they were seen storages get the numbers that the copy knows them by. Empty where there is nothing
    to test.
    """
    drops = [
        _plan("drop", finding, censuses)
        for finding in findings
        if finding.drops and finding.storages and not _is_passing(_moment(finding))
    ][:MOST_FINDINGS]
    rings = [finding for finding in findings if finding.symptom == "cycle" and finding.storages]
    collections = [_plan("collect", finding, censuses) for finding in rings[:MOST_FINDINGS]]
    if not drops and not collections:
        return ()
    return (*drops, *collections, PlannedExperiment("clear caches"))


def _as_known(finding: Finding, censuses: Sequence[Census]) -> frozenset[tuple[int, int]]:
    """The finding's storages by the number that the process knows them by all its life: addresses are used again."""
    known: dict[int, int] = {}
    for census in censuses:
        if (census.step, census.moment) == (finding.storages_at, _moment(finding)):
            addresses = census.nodes.address[census.storages.node].tolist()
            known.update(zip(addresses, census.storage_identities.tolist(), strict=True))
    return frozenset((known.get(address, address), size) for address, size in finding.storages)


def with_results(findings: Iterable[Finding], results: Sequence[ExperimentResult]) -> tuple[Finding, ...]:
    """The findings with what experiments on them freed as evidence (kind "experiment"), and as sure as that makes them.

    A *likely* finding whose statement is known becomes certain when dropping its references, and nothing else, freed
    what it claims, at once or with the next collection; a *certain* one becomes likely when that freed less than half
    of it. What names are said to carry past its use is only *possible* where dropping them freed next to nothing:
    something else holds it. That nobody will call a module again no experiment shows.
    """
    by_finding: dict[tuple[str, str], list[ExperimentResult]] = {}
    for result in results:
        by_finding.setdefault((result.rule, result.fingerprint), []).append(result)
    return tuple(_tested(finding, by_finding.get((finding.rule, finding.fingerprint), ())) for finding in findings)


def _tested(finding: Finding, results: Sequence[ExperimentResult]) -> Finding:
    claimed = sum(size for _, size in finding.storages)
    comparable = (_as_claimed(each, claimed, renewed=finding.symptom == "peak") for each in results)
    told = [each for each in comparable if each.predicted_bytes >= max(1, LEAST_PRESENT * claimed)]
    told = _best_of_each_kind([each for each in told if each.freed_bytes is not None]) or told[:1]
    shares = [share for each in told if (share := each.freed_share()) is not None]
    evidence = (*finding.evidence, *(_evidence(each) for each in told))
    return replace(finding, evidence=evidence, confidence=_confidence(finding, shares))


def _best_of_each_kind(results: Sequence[ExperimentResult]) -> list[ExperimentResult]:
    """What was done at several moments, once: where most went. Drops come first, whichever copy answered first."""
    kinds = sorted({each.kind for each in results}, key=get_args(ExperimentKind).index)
    return [max((r for r in results if r.kind == kind), key=lambda r: r.freed_share() or 0.0) for kind in kinds]


def _as_claimed(result: ExperimentResult, claimed: int, *, renewed: bool) -> ExperimentResult:
    """The result in bytes alone where each step makes the memory anew: at the copy's step it lay elsewhere."""
    if not renewed or result.freed_bytes is None or result.predicted_bytes >= LEAST_PRESENT * claimed:
        return result
    gone = result.freed_bytes + result.other_bytes
    return replace(result, predicted_bytes=claimed, freed_bytes=min(gone, claimed), other_bytes=max(0, gone - claimed))


def _confidence(finding: Finding, freed_shares: Sequence[float]) -> Confidence:
    if not freed_shares:
        return finding.confidence
    best = max(freed_shares)
    provable = finding.holder.file is not None and "last_called_step" not in evidence_of(finding, "facts")
    if finding.confidence == "likely" and best >= CONFIRMED_SHARE and provable:
        return "certain"
    if finding.symptom == "peak" and best < CONTRADICTED_SHARE:
        return "possible"
    if finding.confidence == "certain" and best < REFUTED_SHARE:
        return "likely"
    return finding.confidence


def _evidence(result: ExperimentResult) -> dict[str, Any]:
    about = {"kind": "experiment", "done": result.kind, "predicted_bytes": result.predicted_bytes}
    if result.freed_bytes is None:
        return about | {"freed_bytes": None, "failure": result.failure}
    later = {"collected_bytes": result.collected_bytes} if result.collected_bytes else {}
    return about | {"freed_bytes": result.freed_bytes, "other_bytes": result.other_bytes} | later


def _plan(kind: ExperimentKind, finding: Finding, censuses: Sequence[Census]) -> PlannedExperiment:
    drops = finding.drops if kind == "drop" else ()
    return PlannedExperiment(
        kind,
        finding.rule,
        finding.fingerprint,
        drops,
        _as_known(finding, censuses),
        _moment(finding),
        independent=finding.symptom == "cycle",
    )


def _is_passing(moment: str) -> bool:
    """Whether what was seen then is gone a moment later."""
    return moment == PEAK or is_at_state_call(moment)


def _moment(finding: Finding) -> str:
    return str(evidence_of(finding, "series").get("moment", ""))
