"""When findings are looked for again while a run goes on: at each new census, and as a counter grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenure.errors import RecordingError
from tenure.model.finding import Diagnosis
from tenure.model.outlook import RunOutlook
from tenure.model.recording import Recording

MOST_DIAGNOSED = 3
"""Processes of one run: a second per ten censuses each."""


@dataclass(frozen=True)
class Due:
    """What a diagnosis is made of; another is due where this has changed.

    Growth of the whole process is seen in counters, and needs no census: it is looked for when a counter begins to
    grow, and while one does each time that the run has twice the steps.
    """

    num_censuses: int
    growing: tuple[str, ...]
    doublings: int

    def __bool__(self) -> bool:
        return bool(self.num_censuses or self.growing)


def findings_due(num_censuses: int, outlook: RunOutlook) -> Due:
    """For a run as it is now; false where there is nothing yet to be found."""
    growing = tuple(counter.name for counter in outlook.counters if counter.grows_per_step is not None)
    return Due(num_censuses, growing, outlook.steps.bit_length() if growing else 0)


class FindingsSoFar:
    """Of a run that is read again and again: the diagnosis of each process, made anew where one is due."""

    def __init__(self, diagnose: Callable[[Recording], Diagnosis]) -> None:
        self._diagnose = diagnose
        self._made: dict[str, tuple[Due, Diagnosis]] = {}

    def look(self, recording: Recording, outlook: RunOutlook) -> Diagnosis | None:
        """None where there is nothing yet, of more processes than `MOST_DIAGNOSED`, and of one that cannot be read."""
        due = findings_due(len(recording.censuses), outlook)
        known = self._made.get(recording.path)
        if known is None and len(self._made) >= MOST_DIAGNOSED:
            return None
        if due and (known is None or known[0] != due):
            try:
                self._made[recording.path] = known = due, self._diagnose(recording)
            except RecordingError:
                return None
        return None if known is None else known[1]
