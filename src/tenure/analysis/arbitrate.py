"""Each byte explained once: of findings that would free the same storages the one with the strongest evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

from tenure.analysis.heap.graph import is_hook_table
from tenure.analysis.heap.storage_facts import bytes_of
from tenure.analysis.same_holder import join_same_holder, table_of, with_other
from tenure.model.experiment import all_drops
from tenure.model.finding import CutReference, Finding, evidence_of

_Storages: TypeAlias = frozenset[tuple[int, int]]

MOSTLY = 0.8
"""A finding of which others explain this share says nothing new."""
_UNEXPLAINED = "TN900"
_ANY_COLLECTION = ("TN202", "TN203")
"""Rules that say that a collection grows, not what for."""
_ON_CTX = "TN103"
_HOOKS = "TN303"
_SURENESS = ("certain", "likely", "possible")
_LASTING = ("growth", "survivor")
_COLLECTING = ("growth", "sawtooth")
_BY_SYMPTOM = ("growth", "sawtooth", "survivor", "cycle", "peak")


def explain_bytes_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, strongest first, none with bytes of a stronger one; those of one rule and holder as one.

    What stronger ones explain for the most part becomes their evidence (kind "also"); of what they explain in part,
    the rest of the bytes is told. What one reference holds for good and idle at a peak is told once, and so is what
    one custom Function has on its ctx. Strength: a known cause before an unknown one, sure before unsure, a cause
    before a collection that grows, what lasts before what comes and goes, what many censuses saw before what few did,
    more bytes before fewer. Storages of two censuses are the same only where both findings say that they last:
    addresses are used again.
    """
    kept: list[Finding] = []
    for finding in sorted(join_same_holder(_merge_alike(findings)), key=_weakness):
        shared = {at: found for at, other in enumerate(kept) if (found := _shared(finding, other))}
        known = _Storages().union(*shared.values())
        explained = bytes_of(known)
        around = next((at for at, other in enumerate(kept) if _is_part(finding, other)), None)
        if around is not None:
            kept[around] = _with_part(kept[around], finding, known)
        elif (
            ctx := next((at for at, other in enumerate(kept) if _is_same_function(finding, other)), None)
        ) is not None:
            kept[ctx] = _with_same_function(kept[ctx], finding, known)
        elif (same := next((at for at, other in enumerate(kept) if _is_same_peak(finding, other)), None)) is not None:
            kept[same] = with_other(
                kept[same], finding, min(each.retained_bytes or 0 for each in (finding, kept[same]))
            )
        elif (told := next((at for at, other in enumerate(kept) if _is_told_by(finding, other)), None)) is not None:
            kept[told] = with_other(kept[told], finding, 0)
        elif (
            one := next((at for at, other in enumerate(kept) if _is_same_statement(finding, other)), None)
        ) is not None:
            kept[one] = _with_same_statement(kept[one], finding, known)
        elif not explained:
            kept.append(finding)
        elif explained >= MOSTLY * bytes_of(finding.storages):
            at = max(shared, key=lambda number: bytes_of(shared[number]))
            kept[at] = with_other(kept[at], finding, bytes_of(shared[at]))
        else:
            kept.append(_less(finding, explained))
    return tuple(kept)


def _is_part(finding: Finding, other: Finding) -> bool:
    """Whether a growing collection lies inside of what a stronger finding names, and frees nothing that is not its."""
    rest = finding.holder.expression.removeprefix(other.holder.expression)
    inside = bool(other.holder.expression) and rest != finding.holder.expression and rest[:1] in (".", "[")
    if not inside or finding.rule not in _ANY_COLLECTION or finding.ranks != other.ranks:
        return False
    return bool(_shared(finding, other)) or not (finding.storages or finding.retained_bytes)


def _is_told_by(finding: Finding, other: Finding) -> bool:
    return _is_told_by_cut(finding, other) or _is_newest_of(finding, other) or _is_of_told_hooks(finding, other)


def _is_of_told_hooks(finding: Finding, other: Finding) -> bool:
    """Whether what idles at the peak, or is carried, hangs on hooks that are told to pile up: it goes with them."""
    tables = {text for text in other.path if is_hook_table(text.lstrip("."))}
    both = finding.symptom == other.symptom == "peak" and finding.ranks == other.ranks
    return both and other.rule == _HOOKS and not tables.isdisjoint(finding.path)


def _is_newest_of(finding: Finding, other: Finding) -> bool:
    """Whether what a statement keeps for one step more is the newest of what it adds with every step, as where a
    record refers to the one before: what is dropped of the chain is all but its head."""
    same_place = (finding.holder.file, finding.holder.line) == (other.holder.file, other.holder.line)
    one_cause = finding.rule == other.rule and finding.ranks == other.ranks and finding.holder.file is not None
    return one_cause and same_place and (finding.symptom, other.symptom) == ("peak", "growth")


def _is_same_statement(finding: Finding, other: Finding) -> bool:
    """Whether two findings tell one cause of one statement, which fills several containers or attributes by the same
    name, at different times or for a different while: there is one thing to change."""

    def place(each: Finding) -> tuple[object, ...]:
        holder, function = each.holder, evidence_of(each, "facts").get("ctx_type")
        return (
            each.rule,
            holder.file,
            holder.line,
            holder.kind,
            table_of(holder.name),
            function,
            each.device,
            each.ranks,
        )

    comes = finding.symptom in _COLLECTING or finding.symptom == "peak"
    return place(finding) == place(other) and finding.holder.file is not None and comes and other.symptom in _COLLECTING


def _is_told_by_cut(finding: Finding, other: Finding) -> bool:
    """Whether a finding without memory names what a stronger one of the same rule says to drop already."""
    holder = CutReference(finding.holder.name, finding.holder.file, finding.holder.line)
    empty = not finding.storages and not finding.retained_bytes
    return empty and finding.rule == other.rule and holder.file is not None and holder in other.cut


def _is_same_peak(finding: Finding, other: Finding) -> bool:
    """Whether two findings tell, of one reference made by one statement, what it carries past its use; not where the
    weaker has further references, and more memory."""
    both = finding.symptom == other.symptom == "peak" and finding.ranks == other.ranks
    if not both or all(cut.file is None for cut in set(finding.cut) & set(other.cut)):
        return False
    more = bytes_of(finding.storages - other.storages)
    return set(finding.cut) <= set(other.cut) or more <= bytes_of(other.storages)


def _is_same_function(finding: Finding, other: Finding) -> bool:
    """Whether a finding tells of the ctx of the Function that a stronger one names: of more of its tensors, or of a
    variable that carries what backward would have freed but for that ctx."""
    facts = evidence_of(finding, "facts")
    function = facts.get("ctx_type")
    if other.rule != _ON_CTX or not function or evidence_of(other, "facts").get("ctx_type") != function:
        return False
    only_there = finding.symptom == "peak" and bool(facts.get("left_on_ctx"))
    return finding.ranks == other.ranks and (finding.rule == _ON_CTX or only_there)


def _with_same_function(finding: Finding, part: Finding, known: _Storages) -> Finding:
    """The finding with what else lasts on the ctx, each storage once; what is carried for a step adds nothing, nor what
    others tell."""
    more = part.storages - finding.storages - known
    told = with_other(finding, part, bytes_of(part.storages))
    if part.symptom == "peak":
        return told
    return dataclasses.replace(
        told,
        cut=tuple(dict.fromkeys((*finding.cut, *part.cut))),
        retained_bytes=(finding.retained_bytes or 0) + bytes_of(more),
        num_objects=finding.num_objects + len(more),
        growth_bytes_per_step=(
            _sum_of_rates(finding, part) if _is_mostly_new(more, part) else finding.growth_bytes_per_step
        ),
        explains=(*finding.explains, *part.explains),
        storages=finding.storages | part.storages,
        drops=all_drops((finding, part)),
    )


def _is_mostly_new(more: _Storages, part: Finding) -> bool:
    return bytes_of(more) > (1 - MOSTLY) * bytes_of(part.storages)


def _sum_of_rates(*findings: Finding) -> float | None:
    rates = [each.growth_bytes_per_step for each in findings if each.growth_bytes_per_step is not None]
    return sum(rates) if rates else None


def _with_part(finding: Finding, part: Finding, known: _Storages) -> Finding:
    """The finding with the bytes, and the growth, of a collection inside of what it names, but those that others
    tell."""
    more = part.storages - finding.storages - known
    return dataclasses.replace(
        with_other(finding, part, bytes_of(part.storages)),
        retained_bytes=(finding.retained_bytes or 0) + bytes_of(more),
        num_objects=finding.num_objects + len(more),
        growth_bytes_per_step=finding.growth_bytes_per_step or part.growth_bytes_per_step,
        storages=finding.storages | part.storages,
        drops=all_drops((finding, part)),
    )


def _with_same_statement(finding: Finding, part: Finding, known: _Storages) -> Finding:
    """The finding with the references of another one that the same statement fills, and its bytes and growth where both
    were seen at once, but those that others tell."""
    more = part.storages - finding.storages - known if _seen_together(finding, part) else frozenset()
    grows_too = finding.symptom == part.symptom and _is_mostly_new(more, part)
    return dataclasses.replace(
        with_other(finding, part, bytes_of(part.storages)),
        cut=tuple(dict.fromkeys((*finding.cut, *part.cut))),
        retained_bytes=(finding.retained_bytes or 0) + bytes_of(more),
        growth_bytes_per_step=_sum_of_rates(finding, part) if grows_too else finding.growth_bytes_per_step,
        storages=finding.storages | more,
        drops=all_drops((finding, part)),
    )


def _merge_alike(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    groups: dict[Hashable, list[Finding]] = {}
    for at, finding in enumerate(findings):
        once = finding.symptom == "survivor" and finding.holder.file is not None
        key = (finding.rule, finding.confidence, finding.holder, finding.cut, finding.device, finding.ranks)
        groups.setdefault(key if once else at, []).append(finding)
    return tuple(_merged(group) if len(group) > 1 else group[0] for group in groups.values())


def _merged(group: Sequence[Finding]) -> Finding:
    """One finding of several releases whose memory the same reference holds: the first one's words, all bytes."""
    first = group[0]
    storages = _Storages().union(*(each.storages for each in group))
    together = sum(each.retained_bytes or 0 for each in group)
    also = {"kind": "merged", "messages": [each.message for each in group[1:]]}
    return dataclasses.replace(
        first,
        retained_bytes=min(together, bytes_of(storages)) if all(each.storages for each in group) else together,
        num_objects=sum(each.num_objects for each in group),
        first_step=min(each.first_step for each in group),
        last_step=max(each.last_step for each in group),
        evidence=(*first.evidence, also),
        explains=tuple(key for each in group for key in each.explains),
        storages=storages,
        drops=all_drops(group),
    )


def _weakness(finding: Finding) -> tuple[object, ...]:
    series: dict[str, list[int]] = evidence_of(finding, "series")
    symptom = _BY_SYMPTOM.index(finding.symptom) if finding.symptom in _BY_SYMPTOM else len(_BY_SYMPTOM)
    return (
        finding.confidence == "possible",
        finding.rule == _UNEXPLAINED,
        _SURENESS.index(finding.confidence),
        finding.rule in _ANY_COLLECTION,
        symptom,
        -len(series.get("steps", ())),
        -(finding.retained_bytes or 0),
        finding.rule,
        finding.fingerprint,
    )


def _shared(one: Finding, other: Finding) -> _Storages:
    return one.storages & other.storages if _seen_together(one, other) else frozenset()


def _seen_together(one: Finding, other: Finding) -> bool:
    """Whether the storages of both are of one census, or last: addresses are used again."""
    lasting = one.symptom in _LASTING and other.symptom in _LASTING
    return lasting or one.storages_at == other.storages_at


def _less(finding: Finding, explained: int) -> Finding:
    if finding.retained_bytes is None:
        return finding
    rest = max(0, finding.retained_bytes - explained)
    elsewhere = {"kind": "elsewhere", "bytes": explained}
    return dataclasses.replace(finding, retained_bytes=rest, evidence=(*finding.evidence, elsewhere))
