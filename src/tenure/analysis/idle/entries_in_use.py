"""Tables that gain entries while steps go on to work with the earlier ones.

What nobody needs any more nobody changes, nor reads in each step: running means by class that are brought up to date
fill as classes come, and the anchors of earlier tasks that each loss is held to, or labelled data, with tasks and
rounds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tenure.analysis.heap.storage_facts import bytes_of
from tenure.analysis.idle.resting_history import memory_of
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Census
from tenure.model.suspect import KEPT_UP, USED_BY_STEPS, Suspect

LEAST_SHARE = 0.15
"""Of the first entries, by bytes: so much of them a profiled step must have changed, for of a pool's last few one is
mostly at work."""
LEAST_AGE = 3
"""Steps between the census that saw the first entries and the profiled one."""
LEAST_USED = 0.5
"""Of the entries that were there before both profiled steps, by bytes: so much of them the second must have used."""
MOST_OFTEN = 0.75
"""Entries per step: what comes more often the steps themselves collect, whatever they read of it; unless they come many
at once, so that of the censuses that follow each other closely at most this share saw more."""
CLOSE = 2
"""Steps at most between two censuses that follow each other closely."""
LEAST_CLOSE = 4
"""Pairs of such censuses."""


def told_where_entries_are_in_use(
    suspects: Iterable[Suspect], peaks: Sequence[Replay], between: Sequence[Census]
) -> tuple[Suspect, ...]:
    """The suspects; those of containers that grow, with the fact, where a profiled step changed in place what the first
    census `between` steps that saw any entries saw; and where entries come now and then, and a profiled step used those
    that there were. Nothing is known where no census met a profile."""
    return tuple(
        dataclasses.replace(each, facts=each.facts | _facts(each, peaks, between)) if _may_be_in_use(each) else each
        for each in suspects
    )


def _may_be_in_use(suspect: Suspect) -> bool:
    is_table = suspect.holder.element and suspect.holder.kind != "hook"
    return suspect.symptom == "growth" and is_table and not suspect.through_graph


def _facts(suspect: Suspect, peaks: Sequence[Replay], between: Sequence[Census]) -> dict[str, object]:
    if _is_kept_up(suspect, peaks, between):
        return {KEPT_UP: True}
    return {USED_BY_STEPS: True} if _comes_seldom(suspect) and any(_is_used(suspect, peak) for peak in peaks) else {}


def _is_kept_up(suspect: Suspect, peaks: Sequence[Replay], between: Sequence[Census]) -> bool:
    seen = ((census.step, suspect.storages & memory_of(census)) for census in between)
    step, first = next((each for each in seen if each[1]), (0, frozenset()))
    changed = (first & peak.changed_in_place() for peak in peaks if peak.profile.step - step >= LEAST_AGE)
    return any(bytes_of(each) >= LEAST_SHARE * bytes_of(first) for each in changed if each)


def _comes_seldom(suspect: Suspect) -> bool:
    if 0 < (suspect.growth_objects_per_step or 0) < MOST_OFTEN:
        return True
    series = suspect.series
    pairs = pairwise(zip(series.steps, series.bytes, strict=True))
    rose = [after > before for (at, before), (step, after) in pairs if step - at <= CLOSE]
    return len(rose) >= LEAST_CLOSE and sum(rose) <= MOST_OFTEN * len(rose)


def _is_used(suspect: Suspect, peak: Replay) -> bool:
    older = suspect.storages & peak.from_before()
    return bool(older) and bytes_of(older - peak.untouched_in_second()) >= LEAST_USED * bytes_of(older)
