"""By how much the peak would fall, given to findings that other evidence made: of the same names, or of what rests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.weights import is_news
from tenure.analysis.kept.carried import OUTLASTS_A_STEP
from tenure.model.suspect import ADDS_TO_NO_PEAK, INSIDE_OF_IDLE, HoldingReference, Hop, Suspect

_ENTRY = "forward-entry"
BASIS_OF_RESTING = "no operation of the profiled steps used it"
Name = tuple[str, str, str, str]


def with_higher_peaks(suspects: Iterable[Suspect], peaks: Sequence[Replay]) -> tuple[Suspect, ...]:
    """The suspects; those of a phase whose peak another profiled phase exceeds on the same device, with that peak: it
    does not fall with theirs."""
    highest: dict[str, int] = {}
    for replay in peaks if len(peaks) > 1 else ():
        highest[replay.device] = max(highest.get(replay.device, 0), replay.met_bytes() or 0)
    return tuple(_below_higher_peak(suspect, highest.get(suspect.device, 0)) for suspect in suspects)


def _below_higher_peak(suspect: Suspect, highest: int) -> Suspect:
    if suspect.peak_bytes is None or highest <= suspect.peak_bytes:
        return suspect
    return dataclasses.replace(suspect, facts=suspect.facts | {"higher_peak_bytes": highest})


def give_peak_figures(suspects: Iterable[Suspect], idle: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """The suspects; those that carry what is idle at the peak, too, with the figures of the peak, or, where only what
    is around it goes by the same name, with the fact."""
    return tuple(_with_figures(suspect, idle) for suspect in suspects)


def give_figures_of_what_rests(suspects: Iterable[Suspect], replay: Replay) -> tuple[Suspect, ...]:
    """The suspects; those of symptom "survivor" whose memory was there at the peak, and that no operation of the
    profiled steps touched, with the figures of the peak: it falls by all of their bytes."""
    if not replay.meets_peak():
        return tuple(suspects)
    untouched = replay.untouched()
    return tuple(_resting(suspect, untouched, replay.peak_bytes) for suspect in suspects)


def told_where_they_add_to_no_peak(suspects: Iterable[Suspect], peaks: Sequence[Replay]) -> tuple[Suspect, ...]:
    """The suspects; those that each step makes anew and hands to the next one's forward, with the fact, where most of
    it is gone at every peak that was profiled, or next to nothing beside all else."""
    suspects = tuple(suspects)
    if not any(map(_is_handed_on, suspects)):
        return suspects
    met = [replay for replay in peaks if replay.meets_peak()]
    return tuple(_with_what_it_adds(suspect, met) if _is_handed_on(suspect) else suspect for suspect in suspects)


def is_carried(suspect: Suspect) -> bool:
    """Whether it was seen where forwards begin."""
    return suspect.symptom == "peak" and suspect.series.moment == _ENTRY


def _is_handed_on(suspect: Suspect) -> bool:
    return is_carried(suspect) and OUTLASTS_A_STEP not in suspect.facts


def _with_what_it_adds(suspect: Suspect, met: Iterable[Replay]) -> Suspect:
    size = suspect.retained_bytes
    there = [each for each in met if suspect.first_step <= each.profile.step and each.device == suspect.device]
    adds = any(2 * each.carried_bytes() > size and is_news(size, each.peak_bytes) for each in there)
    if adds or not there:
        return suspect
    return dataclasses.replace(suspect, facts=suspect.facts | {ADDS_TO_NO_PEAK: True})


def _resting(suspect: Suspect, untouched: frozenset[tuple[int, int]], peak_bytes: int) -> Suspect:
    if suspect.symptom != "survivor" or not suspect.storages or not suspect.storages <= untouched:
        return suspect
    size = sum(size for _, size in suspect.storages)
    return dataclasses.replace(suspect, peak_bytes=peak_bytes, peak_drop_bytes=size, peak_basis=BASIS_OF_RESTING)


def _with_figures(suspect: Suspect, idle: Sequence[Suspect]) -> Suspect:
    same = [found for found in idle if names_of(suspect.cut) & names_of(found.cut)] if suspect.symptom == "peak" else []
    best = max(same, key=lambda found: found.peak_drop_bytes or 0, default=None)
    if best is None:
        around = suspect.symptom == "peak" and any(
            _passes_by(suspect.path, each) for found in idle for each in found.cut
        )
        return dataclasses.replace(suspect, facts=suspect.facts | {INSIDE_OF_IDLE: True}) if around else suspect
    return dataclasses.replace(
        suspect, peak_bytes=best.peak_bytes, peak_drop_bytes=best.peak_drop_bytes, peak_basis=best.peak_basis
    )


def _passes_by(path: Sequence[Hop], reference: HoldingReference) -> bool:
    """Whether a path goes on from an object of that type by the attribute of that name, or its entries."""
    if not reference.owner_type or not reference.name:
        return False
    owners = ("", *(hop.source_type if hop.kind == "DICT" else "" for hop in path))
    return any(
        hop.label.strip("'\"") == reference.name and reference.owner_type in (hop.source_type, owner)
        for hop, owner in zip(path, owners, strict=False)
    )


def names_of(references: Iterable[HoldingReference]) -> set[Name]:
    """What references go by, so that those of two findings can be compared."""
    return {(each.kind, each.expression, each.scope_function, each.scope_file) for each in references}
