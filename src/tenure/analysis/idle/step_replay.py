"""The second profiled step's memory, operation by operation: as it was, and as it would be with something freed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType

import numpy as np

from tenure.analysis.heap.graph import Bools
from tenure.analysis.heap.groups import Shapes, View, view_census
from tenure.analysis.heap.storage_facts import is_on
from tenure.analysis.idle.forerunners import find_forerunners
from tenure.analysis.idle.paired_steps import kinds_of_operations, partners_of_operations
from tenure.analysis.idle.used_up_late import UsesAfterPeak, Waiting
from tenure.model.heap import Census, Ints, Role
from tenure.model.profile import ALIVE, BEFORE, Phase, StepProfile

NEAR_PEAK = 0.95
"""The census must have met the second step's peak so closely."""
COMES_NEAR = 0.5
_LIGHT = 0.001
"""Of the peak: a storage that weighs less, with those in the same container, is not looked at."""
_NOTABLE = 0.03
"""Of the peak: what might be used up before it and weighs less is not looked at."""
_CONCATENATION = "aten.cat."
_MOSTLY = 0.5
"""Of what a concatenation makes: an input of this share is what grows."""


class Replay:
    """The second step's memory, operation by operation, as it was and as it would be."""

    def __init__(self, profile: StepProfile, census: Census) -> None:
        self.profile, self.census = profile, census

    @cached_property
    def view(self) -> View:
        """The census at the peak with its shortest paths; costs a search of it, once."""
        return view_census(self.census, Shapes())

    @cached_property
    def device(self) -> str:
        """That which the profiled steps used most of."""
        return self.profile.main_device()

    @cached_property
    def alive(self) -> Ints:
        """Bytes alive on the device after each of the second step's operations."""
        return self._static + self.profile.bytes_alive(self.device)[self.profile.second :]

    @cached_property
    def row_of_node(self) -> dict[int, int]:
        """The profile's row of each storage of the census that an operation touched."""
        return _join(self.profile, self.census)

    @cached_property
    def node_of_row(self) -> dict[int, int]:
        """The census's node of each such row."""
        return {row: node for node, row in self.row_of_node.items()}

    @cached_property
    def _static(self) -> int:
        """Bytes on the device of storages that no operation touched."""
        columns = self.census.storages
        rest = is_on(self.census, self.device) & ~np.isin(columns.node, list(self.row_of_node))
        return int(columns.bytes[rest].sum())

    @cached_property
    def _partner(self) -> list[int]:
        return partners_of_operations(self.profile)

    @cached_property
    def _kinds(self) -> Ints:
        return kinds_of_operations(self.profile)

    @cached_property
    def _on_device(self) -> Bools:
        return self.profile.is_on(self.device).astype(bool)

    def used(self) -> frozenset[tuple[int, int]]:
        """The same of those in the census that one of them made or used."""
        return self._stored_where(self._is_touched)

    def untouched(self) -> frozenset[tuple[int, int]]:
        """Address and bytes of storages on the device that no operation of either step made or used."""
        return self._untouched_from(BEFORE + 1)

    def untouched_in_second(self) -> frozenset[tuple[int, int]]:
        """The same of those that no operation of the second step did: the first one may have made them."""
        return self._untouched_from(self.profile.second)

    def _untouched_from(self, first: int) -> frozenset[tuple[int, int]]:
        storages, addresses = self.census.storages, self.census.nodes.address
        rows = zip(storages.node.tolist(), storages.bytes.tolist(), storages.device.tolist(), strict=True)
        return frozenset(
            (int(addresses[node]), size)
            for node, size, place in rows
            if self.census.text(place) == self.device and not self._is_touched(node, first)
        )

    def _is_touched(self, node: int, first: int = BEFORE + 1) -> bool:
        """Whether an operation made or used a storage, the one numbered `first` or a later one."""
        row = self.row_of_node.get(node)
        return row is not None and int(self.profile.storages.last_use[row]) >= first

    def from_before(self) -> frozenset[tuple[int, int]]:
        """Address and bytes of the storages at the peak that were there when the profiled steps began."""
        births, row_of = self.profile.storages.birth, self.row_of_node
        return self._stored_where(lambda node: node not in row_of or births[row_of[node]] == BEFORE)

    def _stored_where(self, fits: Callable[[int], bool]) -> frozenset[tuple[int, int]]:
        storages, addresses = self.census.storages, self.census.nodes.address
        rows = zip(storages.node.tolist(), storages.bytes.tolist(), strict=True)
        return frozenset((int(addresses[node]), size) for node, size in rows if fits(node))

    def changed_in_place(self) -> frozenset[tuple[int, int]]:
        """The same of storages from before both steps that an operation of the second one changed in place."""
        storages = self.profile.storages
        rows = (row for row in np.flatnonzero(storages.birth == BEFORE).tolist() if self._uses.is_changed(row))
        return frozenset((int(storages.address[row]), int(storages.bytes[row])) for row in rows)

    @property
    def peak_bytes(self) -> int:
        """Most bytes alive in the second step, those that no operation touched included."""
        return int(self.alive.max(initial=0))

    def meets_peak(self) -> bool:
        """Whether the census was taken at the peak, or as good as."""
        at = self.profile.census_op - self.profile.second
        return 0 <= at < len(self.alive) and bool(self.alive[at] >= NEAR_PEAK * self.peak_bytes)

    def comes_near_peak(self) -> bool:
        """Whether half of the peak was alive at the census at least, as where one step's batch is larger than the
        other's: names of what is idle there are names at the peak, for all that is alive at both."""
        at = self.profile.census_op - self.profile.second
        return 0 <= at < len(self.alive) and bool(self.alive[at] >= COMES_NEAR * self.peak_bytes)

    @property
    def peak_op(self) -> int:
        """The operation at the peak: the census's, or where that did not meet it the second step's first."""
        return self.profile.census_op if self.meets_peak() else self._first_at_peak()

    def met_bytes(self) -> int | None:
        """Bytes alive at the peak that the census was taken at: the second step's, or, where that step goes another
        way, the first one's; None where it met neither."""
        at = self.profile.census_op - self.profile.second
        if not 0 <= at < len(self.alive):
            return None
        if self.meets_peak():
            return self.peak_bytes
        first = self._static + int(self.profile.bytes_alive(self.device)[: self.profile.second].max(initial=0))
        return first if self.alive[at] >= NEAR_PEAK * first else None

    @cached_property
    def lasting(self) -> frozenset[int]:
        """Storages of parameters, buffers and optimizers' state."""
        columns = self.census.storages
        nodes = columns.node[np.isin(columns.role, (Role.PARAMETER, Role.BUFFER, Role.OPTIMIZER_STATE))]
        return frozenset(self.row_of_node[node] for node in nodes.tolist() if node in self.row_of_node)

    @cached_property
    def waits(self) -> dict[int, Waiting]:
        """Storages that the second step made, alive at its peak, and then dropped, that might have been used up before
        it. What was made before, as a batch in a queue is, waits for its own step. Where other operations before the
        census's met the peak as well, those count that are used up by one of them."""
        first = self._first_at_peak()
        found = self._waiting_from(self.profile.census_op)
        return (self._waiting_from(first - 1) | found) if first < self.profile.census_op else found

    @cached_property
    def _uses(self) -> UsesAfterPeak:
        return UsesAfterPeak(self.profile, self.lasting)

    def _first_at_peak(self) -> int:
        """The second step's first operation with as good as the peak's bytes alive."""
        return self.profile.second + int(np.argmax(self.alive >= NEAR_PEAK * self.peak_bytes))

    def _waiting_from(self, peak: int) -> dict[int, Waiting]:
        storages, at = self.profile.storages, self.profile.census_op
        late = (
            (storages.birth >= self.profile.second)
            & (storages.birth <= min(peak, at - 1))
            & ((storages.death == ALIVE) | (storages.death >= at))
            & (storages.last_use > peak)
        )
        rows = np.flatnonzero(late & (storages.bytes >= _NOTABLE * self.peak_bytes) & self._on_device).tolist()
        dropped = [row for row in rows if row not in self.lasting and self._is_dropped(row)]
        found = {row: self._uses.find_waiting(row, peak=peak) for row in dropped}
        return {row: waiting for row, waiting in found.items() if waiting is not None}

    def carried_bytes(self) -> int:
        """At the census, bytes of what the first step made and still was there: no more than a step hands to the next,
        of what is made anew in each."""
        storages, at = self.profile.storages, self.profile.census_op
        alive = (storages.death == ALIVE) | (storages.death >= at)
        carried = (storages.birth != BEFORE) & (storages.birth < self.profile.second) & alive & self._on_device
        rows = [row for row in np.flatnonzero(carried).tolist() if row not in self.lasting]
        return int(storages.bytes[rows].sum())

    def idle_rows(self) -> list[int]:
        """Storages that the census found alive, used for the last time before, and not to be used again."""
        storages, at = self.profile.storages, self.profile.census_op
        alive = (storages.birth < at) & ((storages.death == ALIVE) | (storages.death >= at))
        idle = alive & (storages.last_use < at) & (storages.last_use != BEFORE) & self._on_device
        return [row for row in np.flatnonzero(idle).tolist() if self._is_dropped(row)]

    def weighs(self, rows: Collection[int]) -> bool:
        """Whether storages together are heavy enough to be looked at."""
        return int(self.profile.storages.bytes[list(rows)].sum()) >= _LIGHT * self.peak_bytes

    def made_nodes(self) -> Ints:
        """Storages in the census that were made in one of the two steps."""
        births = self.profile.storages.birth
        return np.array([node for row, node in self.node_of_row.items() if births[row] != BEFORE], dtype=np.int64)

    def is_from_before(self, row: int) -> bool:
        """Whether the storage was there when the second step began."""
        return int(self.profile.storages.birth[row]) < self.profile.second

    def is_drawn(self, row: int) -> bool:
        """Whether the second step made it of data alone, outside of modules: a batch that it draws or decodes."""
        return self._uses.is_drawn(row)

    def is_spent(self, row: int) -> bool:
        """Whether no statement uses the storage after the peak: only a graph does, which saved it.

        What was there before the step must have a counterpart in the other one: else both steps use the same, as
        several passes over one rollout do, and nobody may drop it in the first.
        """
        last = int(self.profile.storages.last_use[row])
        in_backward = int(self.profile.operations.phase[last]) == Phase.BACKWARD
        if last == BEFORE or not (last <= self.profile.census_op or in_backward):
            return False
        if self.is_handed_on(row):
            return bool(self._forerunners(row))
        return not self.is_from_before(row) or self.counterpart(row) is not None

    def counterpart(self, row: int) -> int | None:
        """The storage of the other step that stands where this one does; None where there is none alike.

        Made by the same operation; or, where it was made for a step before that began, as a batch is, used for the
        last time by the same operation.
        """
        storages, second = self.profile.storages, self.profile.second
        birth, last = int(storages.birth[row]), int(storages.last_use[row])
        if birth < second <= last or birth == BEFORE != last:
            partner = self._partner[last]
            earlier = storages.birth == BEFORE if last >= second else storages.birth < second
            return self._alike(row, earlier & (storages.last_use == partner), partner)
        partner = self._partner[birth] if birth != BEFORE else -1
        return self._alike(row, storages.birth == partner, partner)

    def _alike(self, row: int, candidates: Ints, partner: int) -> int | None:
        """The candidate nearest in size, where the operation has a partner in the other step."""
        if partner < 0:
            return None
        sizes = self.profile.storages.bytes
        size = int(sizes[row])
        near = [found for found in np.flatnonzero(candidates).tolist() if size / 2 <= sizes[found] <= 2 * size]
        return min(near, key=lambda found: abs(int(sizes[found]) - size), default=None)

    def drop_without(self, rows: Iterable[int], *, together: Iterable[Collection[int]] = ()) -> int:
        """By how many bytes the peak falls if these, in both steps, were freed after their last use.

        `together`: sets of rows that go at once, after the last of them was used, as a graph goes whole with its name.
        """
        wanted = {other for row in rows for other in self._made_and_left_alike(row)}
        after = {row: int(self.profile.storages.last_use[row]) for row in self._in_both_steps(wanted)}
        beside: dict[int, int] = {}
        for row in self.waits.keys() & wanted:
            ready = self.waits[row].ready
            partner, other = self._partner[ready], self.counterpart(row)
            after |= {row: ready} | ({other: partner} if other is not None and partner >= 0 else {})
            beside[ready] = max(beside.get(ready, 0), self.waits[row].made_bytes)
        after |= {earlier: BEFORE for row in wanted for earlier in self._forerunners(row)}
        for rows_of_name in together:
            both = self._in_both_steps(rows_of_name)
            for step in (False, True):
                of_step = [row for row in both if bool(self.profile.storages.birth[row] >= self.profile.second) is step]
                latest = max((after[row] for row in of_step), default=0)
                after |= {row: max(after[row], latest) for row in of_step}
        return self.drop_if_freed(after, beside)

    def _made_and_left_alike(self, row: int) -> list[int]:
        """The storage, and those that the same statement made by the same operation, of about its size, and another
        one used for the last time as it was: a step with several batches has one of each, and its mend frees all."""
        storages = self.profile.storages
        birth, last = int(storages.birth[row]), int(storages.last_use[row])
        if birth == BEFORE or last == BEFORE:
            return [row]
        alike = (self._kinds[storages.birth] == self._kinds[birth]) & (storages.birth != BEFORE)
        alike &= (self._kinds[storages.last_use] == self._kinds[last]) & (storages.last_use != BEFORE)
        alike &= (2 * storages.bytes >= storages.bytes[row]) & (storages.bytes <= 2 * storages.bytes[row])
        return [int(other) for other in np.flatnonzero(alike)]

    def _in_both_steps(self, rows: Iterable[int]) -> set[int]:
        return {each for row in rows for each in (row, self.counterpart(row)) if each is not None}

    def drop_if_freed(self, after: Mapping[int, int], beside: Mapping[int, int] = MappingProxyType({})) -> int:
        """By how many bytes the peak falls if each of these rows were freed after its operation, and so many bytes came
        for a moment right after the second step's operations in `beside`, when what those used last is gone."""
        freed_after = np.full(len(self.profile.storages.birth), self.profile.num_operations, dtype=np.int64)
        for row, operation in after.items():
            freed_after[row] = operation
        without = self.profile.bytes_alive(self.device, freed_after=freed_after)[self.profile.second :]
        for operation, size in beside.items():
            gone = np.flatnonzero((self.profile.storages.death == operation) & self._on_device)
            of_gone = int(self.profile.storages.bytes[np.setdiff1d(gone, list(after))].sum())
            at = operation - self.profile.second
            without[at] = max(without[at], without[at] - of_gone + size)
        return self.peak_bytes - int((self._static + without).max(initial=0))

    def copied_rows(self) -> dict[int, list[int]]:
        """By statement: storages that one concatenation made and its next run copies into something a little larger."""
        storages, operations = self.profile.storages, self.profile.operations
        made_by = {int(birth): row for row, birth in enumerate(storages.birth.tolist()) if birth != BEFORE}
        found: dict[int, list[int]] = {}
        for row in np.flatnonzero((storages.birth != BEFORE) & self._on_device).tolist():
            birth, last = int(storages.birth[row]), int(storages.last_use[row])
            site = int(operations.site[last])
            if not self.profile.text(int(operations.name[last])).startswith(_CONCATENATION):
                continue
            larger = made_by.get(last)
            grows = larger not in (None, row) and storages.bytes[row] >= _MOSTLY * storages.bytes[larger]
            if grows and operations.name[birth] == operations.name[last] and operations.site[birth] == site >= 0:
                found.setdefault(site, []).append(row)
        return found

    def _is_dropped(self, row: int) -> bool:
        """Whether the storage dies unused. What lives at the end of the profile is judged by its counterpart; of what
        stands alike, as a queue's entries that one operation joins, all die only if as many did in the other step."""
        storages, second = self.profile.storages, self.profile.second
        if storages.death[row] != ALIVE:
            return True
        if storages.birth[row] < second > storages.last_use[row]:
            return bool(self._forerunners(row))
        other = self.counterpart(row)
        if other is None or storages.death[other] == ALIVE or storages.last_use[other] >= second:
            return False
        last = int(storages.last_use[row])
        stay = (storages.death == ALIVE) & (storages.last_use == last)
        went = (storages.death != ALIVE) & (storages.last_use == self._partner[last])
        return int(went.sum()) >= int(stay.sum())

    def is_handed_on(self, row: int) -> bool:
        """Whether of both steps the first one alone used the storage, which it or one before made, and nobody let go
        of it since."""
        storages, second = self.profile.storages, self.profile.second
        is_old = storages.birth[row] < second > storages.last_use[row] > BEFORE
        return bool(is_old and storages.death[row] == ALIVE)

    def _forerunners(self, row: int) -> list[int]:
        """Of what is handed on to later steps: storages like it that the second step let go unused."""
        if not self.is_handed_on(row):
            return []
        return find_forerunners(self.profile, row, view=self.view, node_of_row=self.node_of_row)


def _join(profile: StepProfile, census: Census) -> dict[int, int]:
    """Row by storage node."""
    storages, at = profile.storages, profile.census_op
    alive = (storages.birth <= at) & ((storages.death == ALIVE) | (storages.death >= at))
    by_address = {int(storages.address[row]): row for row in np.flatnonzero(alive).tolist()}
    nodes = census.storages.node
    addresses = census.nodes.address[nodes].tolist()
    return {node: by_address[at] for node, at in zip(nodes.tolist(), addresses, strict=True) if at in by_address}
