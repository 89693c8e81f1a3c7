"""An experiment: something done to a copy of the program's process, and how much memory really went.

What a finding claims is predicted from a census; an experiment drops exactly the references that it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

ExperimentKind = Literal["drop", "collect", "clear caches"]
CONFIRMED_SHARE = 0.9
"""From this share of the predicted bytes on, an experiment has shown what was claimed."""
REFUTED_SHARE = 0.5
"""Below this share it has shown that something else holds on as well."""
CONTRADICTED_SHARE = 0.05
"""Below this share it has shown that what was dropped holds nothing worth a word."""


@dataclass(frozen=True)
class Drop:
    """One reference of a census, so that it can be found in the same process: good for that process alone.

    `source` and `target` are addresses; `kind` is the name of a `ReferenceKind`, `label` its label there.
    `whole` stands for all elements of the container `source`.
    """

    source: int
    source_type: str
    kind: str
    label: str
    target: int
    whole: bool = False


class HasDrops(Protocol):
    """A suspect or a finding."""

    @property
    def drops(self) -> tuple[Drop, ...]:
        """The references to drop."""
        ...


def all_drops(several: Iterable[HasDrops]) -> tuple[Drop, ...]:
    """What several name together, each reference once."""
    return tuple(dict.fromkeys(drop for each in several for drop in each.drops))


@dataclass(frozen=True)
class PlannedExperiment:
    """What to do in a copy of the process, and the storages that should go: what censuses know each by, and bytes.

    `rule` and `fingerprint` name the finding that claims so; both are empty for one that asks about the process.
    `moment` is that of the census in which it was seen. With `independent`, each of the drops frees a part, so that
    those whose owner is gone are passed over.
    """

    kind: ExperimentKind
    rule: str = ""
    fingerprint: str = ""
    drops: tuple[Drop, ...] = ()
    storages: frozenset[tuple[int, int]] = frozenset()
    moment: str = "step-end"
    independent: bool = False


@dataclass(frozen=True)
class ExperimentResult:
    """What an experiment freed.

    `predicted_bytes` are of those named storages that were still alive in the copy; `freed_bytes` of those of them
    that went, None where the experiment could not be made (`failure` says why). `other_bytes` went besides.
    `collected_bytes` are of those that stayed and went once the collector ran: a ring that nothing else holds any more.
    """

    kind: ExperimentKind
    rule: str
    fingerprint: str
    predicted_bytes: int
    freed_bytes: int | None
    other_bytes: int = 0
    failure: str = ""
    collected_bytes: int = 0

    def freed_share(self) -> float | None:
        """Of what was predicted; None where nothing was there to free, or it could not be tried."""
        if self.freed_bytes is None or not self.predicted_bytes:
            return None
        return (self.freed_bytes + self.collected_bytes) / self.predicted_bytes

    def confirms(self) -> bool:
        """Whether it has shown what was claimed."""
        return (self.freed_share() or 0.0) >= CONFIRMED_SHARE
