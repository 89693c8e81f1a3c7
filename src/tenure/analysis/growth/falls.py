"""What rises and falls: how much it gains between two falls, and what else in the program happens when it falls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from tenure.model.recording import Step
from tenure.model.source import SourceFile
from tenure.model.suspect import Falls, Suspect
from tenure.syntax.text.remainders import Remainder, find_remainders

FEWEST_FALLS = 2
"""One fall that comes with something else may be chance."""
COLLECTIONS = "full_collections"


def with_falls(
    suspects: Iterable[Suspect], steps: Sequence[Step], sources: Mapping[str, SourceFile]
) -> tuple[Suspect, ...]:
    """The suspects, those that fall now and then with what they gain until then and what falls coincide with.

    Costs a parse of the program's own sources where there is one that falls with a period.
    """
    told = tuple(suspects)
    if not any(suspect.period_steps for suspect in told):
        return tuple(_with_collector(suspect, steps) for suspect in told)
    remainders = find_remainders(source for source in sources.values() if source.origin == "yours")
    return tuple(
        _with_falls(suspect, steps, remainders) if suspect.period_steps else _with_collector(suspect, steps)
        for suspect in told
    )


def _with_falls(suspect: Suspect, steps: Sequence[Step], remainders: Sequence[Remainder]) -> Suspect:
    period = suspect.period_steps or 0
    falls = Falls(
        amplitude_bytes=max(round((suspect.growth_bytes_per_step or 0) * period), max(suspect.series.bytes)),
        amplitude_objects=max(round((suspect.growth_objects_per_step or 0) * period), max(suspect.series.objects)),
        every_steps=period,
    )
    return replace(suspect, falls=_explained(falls, suspect, steps, remainders))


def _explained(falls: Falls, suspect: Suspect, steps: Sequence[Step], remainders: Sequence[Remainder]) -> Falls:
    fitting = [each for each in remainders if falls.every_steps in each.divisors]
    here = {site.file for site in suspect.holder.sites}
    near = [each for each in fitting if each.where.file in here] or fitting
    if near:
        return replace(falls, with_what="interval", expression=near[0].expression, where=near[0].where)
    if _comes_with_collections(suspect, steps):
        return replace(falls, with_what="collector")
    return falls


def _comes_with_collections(suspect: Suspect, steps: Sequence[Step]) -> bool:
    """The collector ran between two censuses wherever the row fell, and nowhere where it rose without a fall."""
    known = {step.step: step.counters[COLLECTIONS] for step in steps if COLLECTIONS in step.counters}
    moved = []
    for (before, after), (first, second) in zip(
        pairwise(suspect.series.steps), pairwise(suspect.series.objects), strict=True
    ):
        if before not in known or after not in known or first == second:
            continue
        fell = second < first
        if fell or after - before < (suspect.period_steps or 0):
            moved.append((fell, known[after] > known[before]))
    return sum(fell for fell, _ in moved) >= FEWEST_FALLS and all(fell == counted for fell, counted in moved)


def _with_collector(suspect: Suspect, steps: Sequence[Step]) -> Suspect:
    """Rings wait from one full collection to the next: as many bytes as come in that time."""
    rate = suspect.growth_bytes_per_step
    at = [
        later.step
        for earlier, later in pairwise([step for step in steps if COLLECTIONS in step.counters])
        if later.counters[COLLECTIONS] > earlier.counters[COLLECTIONS]
    ]
    if not suspect.cyclic or not rate or len(at) <= FEWEST_FALLS:
        return suspect
    every = max(1, round(median(later - earlier for earlier, later in pairwise(at))))
    return replace(suspect, falls=Falls(round(rate * every), None, every, with_what="collector"))
