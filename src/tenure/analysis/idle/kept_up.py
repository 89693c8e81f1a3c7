"""Tables that gain entries, and whose earlier entries each step brings up to date, as running means by class are.

What nobody needs any more nobody changes either: such a table is in use, and fills as classes come.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from tenure.analysis.idle.resting_history import memory_of
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Census
from tenure.model.suspect import KEPT_UP, Suspect

LEAST_SHARE = 0.15
"""Of the first entries, by bytes: so much of them a profiled step must have changed, for of a pool's last few one is
mostly at work."""
LEAST_AGE = 3
"""Steps between the census that saw the first entries and the profiled one."""


def told_where_entries_are_kept_up(
    suspects: Iterable[Suspect], peaks: Sequence[Replay], between: Sequence[Census]
) -> tuple[Suspect, ...]:
    """The suspects; those of containers that grow, with the fact, where a profiled step changed in place what the first
    census `between` steps that saw any entries saw. Nothing is known where no census met a profile."""
    return tuple(
        dataclasses.replace(each, facts=each.facts | {KEPT_UP: True}) if _is_kept_up(each, peaks, between) else each
        for each in suspects
    )


def _is_kept_up(suspect: Suspect, peaks: Sequence[Replay], between: Sequence[Census]) -> bool:
    is_table = suspect.holder.element and suspect.holder.kind != "hook"
    if suspect.symptom != "growth" or not is_table or suspect.through_graph or not peaks:
        return False
    seen = ((census.step, suspect.storages & memory_of(census)) for census in between)
    step, first = next((each for each in seen if each[1]), (0, frozenset()))
    changed = (first & peak.changed_in_place() for peak in peaks if peak.profile.step - step >= LEAST_AGE)
    return any(_bytes_of(each) >= LEAST_SHARE * _bytes_of(first) for each in changed if each)


def _bytes_of(storages: Iterable[tuple[int, int]]) -> int:
    return sum(size for _, size in storages)
