"""Tables that gain entries, and whose earlier entries each step brings up to date, as running means by class are.

What nobody needs any more nobody changes either: such a table is in use, and fills as classes come.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from tenure.analysis.idle.step_replay import Replay
from tenure.model.suspect import KEPT_UP, Suspect

LEAST_SHARE = 0.25
"""Of the entries that were there when a step was profiled, by bytes: so much of them it must have changed."""


def told_where_entries_are_kept_up(suspects: Iterable[Suspect], peaks: Sequence[Replay]) -> tuple[Suspect, ...]:
    """The suspects; those of containers that grow, with the fact, where a profiled step changed their earlier entries
    in place. Nothing is known where no census met a profile."""
    return tuple(
        dataclasses.replace(each, facts=each.facts | {KEPT_UP: True}) if _is_kept_up(each, peaks) else each
        for each in suspects
    )


def _is_kept_up(suspect: Suspect, peaks: Sequence[Replay]) -> bool:
    if suspect.symptom != "growth" or not suspect.holder.element or suspect.through_graph:
        return False
    return any(_share_changed(suspect, replay) >= LEAST_SHARE for replay in peaks)


def _share_changed(suspect: Suspect, replay: Replay) -> float:
    there = sum(size for _, size in suspect.storages & replay.from_before())
    return sum(size for _, size in suspect.storages & replay.changed_in_place()) / there if there else 0.0
