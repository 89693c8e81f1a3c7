"""The verdict: rules over a recording. Every suspect ends in exactly one finding; the rest is admitted."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from tenure.analysis.arbitrate import explain_bytes_once
from tenure.analysis.evidence import Evidence, read_evidence
from tenure.analysis.experiments import plan_experiments, with_results
from tenure.analysis.heap.groups import fingerprint_of
from tenure.analysis.heap.host_part import HOST
from tenure.analysis.heap.unseen_owners import describe_unseen_device_bytes, describe_unseen_owners
from tenure.analysis.host.forked_workers import describe_workers
from tenure.analysis.host.native_growth import describe_native_growth, describe_unseen_growth, find_rise
from tenure.analysis.idle.idle_modules import without_told_unread
from tenure.analysis.idle.peak_figures import give_peak_figures
from tenure.analysis.process_suspects import (
    find_beyond_censuses,
    find_copied_by_workers,
    find_idle,
    find_lasting,
    find_resting,
)
from tenure.analysis.ran_out import find_ran_out
from tenure.analysis.same_holder import hangs_below
from tenure.analysis.watching.rank_notes import describe_beyond_findings
from tenure.analysis.watching.ranks import compare_ranks
from tenure.errors import RecordingError
from tenure.model.finding import AUTOGRAD_NODE_BYTES, Diagnosis, Finding, evidence_of, gained_per_step
from tenure.model.ran_out import RanOut
from tenure.model.recording import Recording
from tenure.model.rule import Rule
from tenure.model.source import SourceFile
from tenure.model.suspect import Suspect
from tenure.parts import STRICT, Parts
from tenure.rules import all_rules
from tenure.rules.library_calls import with_library_call
from tenure.rules.library_patches import with_library_patch
from tenure.rules.mechanical_edits import with_edits
from tenure.store.experiments_file import read_answers, request_experiments
from tenure.store.recording_file import list_recordings, open_recording
from tenure.syntax.text.suppressions import is_allowed


def diagnose(path: str) -> Diagnosis:
    """All findings of the run recorded at `path`, those that save most bytes first.

    Raises RecordingError where there is no recording, NewerFormatError where this version cannot read it.
    Costs about a second per ten censuses of a mid-sized model; needs no torch.
    """
    folders = list_recordings(path)
    if not folders:
        raise RecordingError(f"{path} holds no recording; make one with: tenure run -o {path} train.py")
    recordings = [open_recording(folder) for folder in folders]
    return _with_ranks(merge(path, [diagnose_process(recording) for recording in recordings]), recordings)


def _with_ranks(diagnosis: Diagnosis, recordings: Sequence[Recording]) -> Diagnosis:
    """The same, which also says on which ranks something grows that no finding explains, which took no census, and
    which ended how."""
    compared = compare_ranks(recordings)
    if compared is None:
        return diagnosis
    growth, host = (
        {rank for each in diagnosis.findings if each.symptom == symptom for rank in each.ranks}
        for symptom in ("growth", "host")
    )
    blind = {int(each.process["rank"]) for each in recordings if _is_rank_without_census(each)}
    beyond = describe_beyond_findings(compared, growth, growing_on_host=host, without_census=blind)
    return dataclasses.replace(diagnosis, not_seen=(*diagnosis.not_seen, *beyond))


def _is_rank_without_census(recording: Recording) -> bool:
    return recording.process.get("rank") is not None and bool(recording.steps) and not recording.censuses


def diagnose_process(recording: Recording, *, ask_copies: bool = True) -> Diagnosis:
    """The diagnosis of one process; its findings name its rank where it has one.

    Without `ask_copies` waiting copies of the process are left alone: for a look at a run that goes on.
    """
    evidence = read_evidence(recording)
    copied = find_copied_by_workers(evidence)
    explained = _explain_process(evidence, copied)
    folder, parts = Path(recording.path), evidence.parts
    planned = parts.found(plan_experiments, explained, evidence.censuses) if ask_copies else ()
    results = request_experiments(folder, planned) if ask_copies else read_answers(folder)
    explained = parts.changed(parts.changed(explained, with_results, results), retell, all_rules())
    rank = recording.process.get("rank")
    ran_out = parts.take(None, find_ran_out, evidence.of_tensors, explained, rank=rank)
    explained = tuple(_without_outlook(finding, ran_out) for finding in explained)
    findings = tuple(finding for finding in explained if not _is_allowed(finding, evidence.sources))
    growth = sum(_steady_growth(finding) for finding in findings if finding.rule == "TN900")
    return Diagnosis(
        recording=recording.path,
        steps=max((step.step for step in recording.steps), default=0),
        findings=findings,
        unexplained_growth_bytes_per_step=growth,
        not_seen=tuple(_not_seen(evidence, explained, copied, goes_on=not ask_copies)),
        censuses=len(evidence.censuses),
        looked_until=evidence.looked_until,
        suppressed=tuple(finding for finding in explained if finding not in findings),
        ran_out=ran_out,
    )


def _without_outlook(finding: Finding, ran_out: RanOut | None) -> Finding:
    """Where memory has run out nobody asks when it will."""
    there = ran_out is not None and finding.device == ran_out.device
    return dataclasses.replace(finding, forecast=None) if there else finding


def _explain_process(evidence: Evidence, copied: Sequence[Suspect]) -> tuple[Finding, ...]:
    """All findings of one process, those on `copied` data sets among them: each byte once, no two under one name."""
    rank = evidence.recording.process.get("rank")
    ranks = () if rank is None else (int(rank),)
    idle = find_idle(evidence)
    lasting = without_told_unread(find_lasting(evidence, copied), idle)
    known = tuple(each for each in lasting if evidence.parts.take(True, _has_a_cause, each))
    resting = find_resting(evidence, (*known, *idle), carried=[each for each in lasting if each not in known])
    told = _explain_all(lasting, (*idle, *resting), evidence)
    beyond = find_beyond_censuses(evidence, explained=_growth_on_host(told))
    told = (*told, *explain(beyond, all_rules(), evidence.sources, parts=evidence.parts))
    return _told_apart(dataclasses.replace(each, ranks=ranks) for each in sorted(told, key=_rank))


def _has_a_cause(suspect: Suspect) -> bool:
    """Whether it is no mere name for what is carried into the next forward, which may just rest there."""
    return suspect.symptom != "peak" or any(rule.check_suspect(suspect) for rule in all_rules() if rule.code != "TN900")


def leave_out_known(diagnosis: Diagnosis, known: Collection[tuple[str, str]], *, baseline: str) -> Diagnosis:
    """The diagnosis without findings whose rule and fingerprint are among `known`, which are counted."""
    new = tuple(finding for finding in diagnosis.findings if (finding.rule, finding.fingerprint) not in known)
    return dataclasses.replace(diagnosis, findings=new, known=len(diagnosis.findings) - len(new), baseline=baseline)


def explain(
    suspects: Iterable[Suspect],
    rules: Sequence[Rule],
    sources: Mapping[str, SourceFile] | None = None,
    *,
    parts: Parts = STRICT,
) -> tuple[Finding, ...]:
    """One finding per suspect, by the first rule that knows its cause, with edits of `sources`; most bytes first."""
    found = []
    for suspect in suspects:
        claims = ((rule, finding) for rule in rules if (finding := parts.take(None, rule.check_suspect, suspect)))
        rule, finding = next(claims, (None, None))
        if rule is not None and finding is not None:
            finding = parts.changed(_with_memory(finding, suspect), with_edits, suspect, rule, sources or {})
            finding = parts.changed(finding, with_library_call, suspect)
            found.append(parts.changed(finding, with_library_patch, sources or {}))
    return tuple(sorted(found, key=_rank))


def retell(findings: Iterable[Finding], rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """The findings, once experiments were made, in words that agree with their results."""
    by_code = {rule.code: rule.retell for rule in rules}
    said = ((finding, by_code.get(finding.rule)) for finding in findings)
    return tuple(finding if again is None else again(finding) for finding, again in said)


def _with_memory(finding: Finding, suspect: Suspect) -> Finding:
    """The finding with what is known by address: good for the watched process alone."""
    return dataclasses.replace(finding, storages=suspect.storages, storages_at=suspect.storages_at, drops=suspect.drops)


def _explain_all(suspects: tuple[Suspect, ...], idle: Sequence[Suspect], evidence: Evidence) -> tuple[Finding, ...]:
    """Findings of both, the same memory once: what is carried into the next forward is told as that."""
    sources, parts = evidence.sources, evidence.parts
    carried = explain(parts.changed(suspects, give_peak_figures, idle), all_rules(), sources, parts=parts)
    peak = explain(idle, all_rules(), sources, parts=parts)
    sure = [finding for finding in carried if finding.symptom == "peak" and _is_sure(finding)]
    told = {place for finding in sure for place in finding.cut if place.file is not None}
    new = [f for f in peak if told.isdisjoint(f.cut) and not any(hangs_below(f, other) for other in sure)]
    better = {place for finding in new if _is_sure(finding) for place in finding.cut if place.file is not None}
    kept = [f for f in carried if f.symptom != "peak" or _is_sure(f) or better.isdisjoint(f.cut)]
    kept = [f for f in kept if f.rule != "TN900" or not any(hangs_below(f, other) for other in new)]
    named = tuple(f for f in (*kept, *new) if not _is_nameless_guess(f))
    return tuple(sorted(parts.changed(named, explain_bytes_once), key=_rank))


def _is_nameless_guess(finding: Finding) -> bool:
    """Neither proved nor held by anything with a name: nobody could look for it. What is alive within a step is not
    proved by being there."""
    holder = finding.holder
    guessed = finding.confidence == "possible" or (finding.symptom == "peak" and not _hangs_on_a_name(finding))
    return guessed and holder.kind in ("unknown", "hook") and holder.file is None and bool(finding.path)


def _hangs_on_a_name(finding: Finding) -> bool:
    return any(place.file is not None for place in finding.cut)


def _told_apart(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, so that no two of one rule have the same fingerprint. Which is the first of them is told by their
    holders, for what they hold changes from run to run."""
    findings = tuple(findings)
    alike: dict[tuple[str, str], list[int]] = {}
    for at, finding in enumerate(findings):
        alike.setdefault((finding.rule, finding.fingerprint), []).append(at)
    told = list(findings)
    for (_, fingerprint), places in alike.items():
        for number, at in enumerate(sorted(places, key=lambda at: _holder_in_order(findings[at])), start=1):
            mark = fingerprint_of(f"{fingerprint} {number}") if number > 1 else fingerprint
            told[at] = dataclasses.replace(findings[at], fingerprint=mark)
    return tuple(told)


def _holder_in_order(finding: Finding) -> tuple[str, str, int]:
    holder = finding.holder
    return posixpath.basename(holder.file or ""), holder.expression, holder.line or 0


def _is_allowed(finding: Finding, sources: Mapping[str, SourceFile]) -> bool:
    """Whether a comment at the statement that makes the reference allows the finding."""
    source = sources.get(finding.holder.file or "")
    return source is not None and is_allowed(source, finding.holder.line or 0, finding.rule)


def _is_sure(finding: Finding) -> bool:
    return finding.confidence != "possible"


def merge(path: str, diagnoses: Sequence[Diagnosis]) -> Diagnosis:
    """One diagnosis of several processes: the same finding (by fingerprint and file) of several ranks is told once."""
    return Diagnosis(
        recording=path,
        steps=max(diagnosis.steps for diagnosis in diagnoses),
        findings=_merge_findings(finding for diagnosis in diagnoses for finding in diagnosis.findings),
        suppressed=_merge_findings(finding for diagnosis in diagnoses for finding in diagnosis.suppressed),
        unexplained_growth_bytes_per_step=max(each.unexplained_growth_bytes_per_step for each in diagnoses),
        not_seen=tuple(dict.fromkeys(text for diagnosis in diagnoses for text in diagnosis.not_seen)),
        censuses=_sum_known(diagnosis.censuses for diagnosis in diagnoses),
        looked_until=min((each.looked_until for each in diagnoses if each.looked_until is not None), default=None),
        ran_out=min((each.ran_out for each in diagnoses if each.ran_out), key=lambda each: each.step, default=None),
    )


def _merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    best: dict[tuple[str, str, str | None], Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.fingerprint, finding.holder.file)
        ranks = finding.ranks + best[key].ranks if key in best else finding.ranks
        if key not in best or _rank(finding) < _rank(best[key]):
            best[key] = finding
        best[key] = dataclasses.replace(best[key], ranks=tuple(sorted(set(ranks))))
    return _told_apart(sorted(best.values(), key=_rank))


def _sum_known(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _rank(finding: Finding) -> tuple[int, float, str]:
    """Bytes saved first: what is held, or what 100 more steps would add, autograd nodes among it; a mere possibility
    comes last."""
    nodes = AUTOGRAD_NODE_BYTES * _nodes_per_step(finding)
    weight = max(finding.retained_bytes or 0, 100 * (_steady_growth(finding) + nodes))
    return (finding.confidence == "possible", -weight, finding.fingerprint)


def _steady_growth(finding: Finding) -> float:
    """Bytes per step that further steps would add; what falls again adds none."""
    return (finding.growth_bytes_per_step or 0) if finding.symptom == "growth" else 0


def _nodes_per_step(finding: Finding) -> float:
    """Autograd nodes per step that further steps would add."""
    series = evidence_of(finding, "series") if finding.symptom == "growth" else {}
    return max(0.0, gained_per_step(series.get("graph_nodes", ()), series.get("steps", ())))


def _growth_on_host(findings: Sequence[Finding]) -> float:
    """How fast the process grows by what findings tell; rings add to it until the collector runs, and some for good."""
    here = (finding for finding in findings if finding.device in ("cpu", HOST))
    return sum(finding.growth_bytes_per_step or 0 for finding in here if finding.symptom in ("growth", "cycle"))


def _not_seen(
    evidence: Evidence, findings: Sequence[Finding], copied: Sequence[Suspect], *, goes_on: bool
) -> Iterable[str]:
    recording, censuses = evidence.recording, evidence.of_tensors
    if not recording.steps:
        yield "no training step was seen"
    elif len(censuses) < 3 and not _is_rank_without_census(recording):
        yield f"{_where(recording)}only {len(censuses)} censuses were taken: growth needs at least 3"
    missing = len(recording.censuses) - len(censuses)
    if missing:
        yield f"{missing} censuses could not be read"
    if recording.end is None and not goes_on:
        yield "the program did not end by itself: rows after its last flush are missing"
    yield from (note.text for note in recording.notes if note.level in ("warning", "failure"))
    yield from dict.fromkeys(text for census in censuses for text in census.notes)
    told = {finding.path[0] for finding in findings if finding.path}
    described = evidence.parts.found
    unseen = described(describe_unseen_owners, evidence.of_tensors_between_steps)
    yield from (text for text in unseen if not any(owner in text for owner in told))
    yield from described(describe_unseen_device_bytes, recording.steps, censuses)
    yield from described(describe_workers, evidence.between_steps, copied)
    yield from (f"{_where(recording)}{text}" for text in described(_describe_host_growth, evidence, findings))
    for failure in dict.fromkeys(evidence.parts.failures):
        yield f"a part of the diagnosis failed, and what it alone finds is not told: {failure}; please report it"


def _describe_host_growth(evidence: Evidence, findings: Sequence[Finding]) -> Iterable[str]:
    """Of ranks without a census the comparison of ranks tells."""
    if _is_rank_without_census(evidence.recording):
        return ()
    explained = _growth_on_host(findings)
    if evidence.excludes_tensors and (evidence.looked_until is None or find_rise(evidence.steps_seen)):
        return describe_native_growth(evidence.steps_seen, explained)
    return describe_unseen_growth(evidence.recording.steps, explained)


def _where(recording: Recording) -> str:
    rank = recording.process.get("rank")
    return "" if rank is None else f"rank {rank}: "
