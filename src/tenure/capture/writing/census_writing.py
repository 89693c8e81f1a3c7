"""Censuses that are taken and written within a recording, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tenure.capture.steps.module_calls import CalledModules
from tenure.capture.steps.spending import WORK_OF_RECORDED, Cost, Spending
from tenure.capture.writing.journal import Journal
from tenure.model.recording import PEAK, is_within_step

if TYPE_CHECKING:
    from tenure.model.heap import Census


class TakeCensus(Protocol):
    """`capture.census.take_census`, or a stand-in for it."""

    def __call__(
        self,
        *,
        step: int,
        moment: str,
        inputs: object = None,
        optimizers: Sequence[object] = (),
        ignore: Sequence[object] = (),
    ) -> Census:
        """A census of this process, now."""
        ...


class CensusWriter:
    """Takes censuses with what is loaded at the first of them: NumPy and the census itself."""

    def __init__(self, journal: Journal, take_census: TakeCensus | None) -> None:
        self._journal = journal
        self._take_census = take_census
        self.spending = Spending()
        self.num_written = 0
        self.tensor_bytes = 0
        """Of all storages in the last census."""

    def write(
        self,
        *,
        step: int,
        moment: str,
        inputs: object,
        optimizers: Sequence[object],
        ignore: Sequence[object],
        called: CalledModules,
        counters: dict[str, int],
    ) -> None:
        """Take one census and write it; with the modules `called`. OSError where it cannot be."""
        started = Cost.now()
        take_census = self._load()
        census = take_census(step=step, moment=moment, inputs=inputs, optimizers=optimizers, ignore=ignore)
        _mark_called(census, called)
        self._journal.write_census(census)
        cost = Cost.since(started, work=_work_of(census))
        self.spending.add(cost, step=step, counters=counters, within_step=is_within_step(moment))
        self.num_written += 1
        self.tensor_bytes = int(census.storages.bytes.sum())

    def take_peak(self, step: int, optimizers: Sequence[object], *, ignore: Sequence[object]) -> tuple[Census, float]:
        """A census at a step's peak, not written yet, and the seconds it took, which count as spent."""
        started = Cost.now()
        census = self._load()(step=step, moment=PEAK, optimizers=optimizers, ignore=ignore)
        cost = Cost.since(started, work=_work_of(census))
        self.spending.add_extra(cost)
        return census, cost.seconds

    def _load(self) -> TakeCensus:
        if self._take_census is None:
            from tenure.capture.heap.census import take_census

            self._take_census = take_census
        return self._take_census


def _work_of(census: Census) -> int:
    return census.num_objects + WORK_OF_RECORDED * len(census.nodes.address)


def _mark_called(census: Census, called: CalledModules) -> None:
    """Say of modules that they were called; here, for NumPy is loaded with the first census."""
    import numpy as np

    from tenure.model.heap import CALLED, CALLED_BY_ANY

    nodes = census.nodes
    for flag, addresses in ((CALLED, called.roots), (CALLED_BY_ANY, called.all)):
        nodes.flags[np.isin(nodes.address, np.array(sorted(addresses), dtype=np.int64))] |= flag
    inside = (nodes.flags & CALLED_BY_ANY) != 0
    nodes.called_in[inside] = [called.all[address] for address in nodes.address[inside].tolist()]
