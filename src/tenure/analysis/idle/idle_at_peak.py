"""What is idle at the peak: alive when most memory is, used for the last time before, and freed only after.

Births, uses and deaths come from a profile of two steps, the names that hold on from a census at the second one's
peak. How far the peak would fall is the profile replayed with each of these freed after its last use.
"""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tenure.analysis.heap.assemble import Group, Measured, assemble_suspect, belong_together, cut_of
from tenure.analysis.heap.fresh_records import fields_of_record, name_of_record
from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, reach
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, view_census
from tenure.analysis.heap.paths import path_to
from tenure.analysis.idle.weights import is_news
from tenure.model.heap import Census, Ints, NodeKind, ReferenceKind, Role
from tenure.model.profile import ALIVE, BEFORE, Phase, StepProfile
from tenure.model.suspect import SUSPENDED_TYPES, HoldingReference, Series, Suspect

PEAK = "peak"
"""Moment of the census that goes with a profile."""
NEAR_PEAK = 0.95
"""The census must have met the second step's peak so closely."""
MOST_STORAGES = 64
_LIGHT = 0.001
"""Of the peak: a storage that weighs less is not looked at."""
BASIS = "replayed the profiled step without it"
BASIS_OF_COPIES = "replayed the profiled step without the old copy"
BASIS_OF_RESTING = "no operation of the profiled steps used it"
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_CONCATENATION = "aten.cat."
_MOSTLY = 0.5
"""Of what a concatenation makes: an input of this share is what grows."""


def find_idle_at_peak(profile: StepProfile, census: Census) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak" whose bytes the peak would fall by, those that matter most first.

    Parameters, buffers, optimizer state, and whatever lasts over both steps or is used again in the next one are
    none. Costs a cut per storage looked at.
    """
    replay = Replay(profile, census)
    if not replay.meets_peak():
        return ()
    view = view_census(census, Shapes())
    rows = [row for row in replay.idle_rows() if row in replay.node_of_row and not _is_lasting(view, replay, row)]
    rows = sorted(rows, key=lambda row: -int(profile.storages.bytes[row]))[:MOST_STORAGES]
    found = []
    for group in _groups(view, replay, rows, _spent_records(view, replay, rows)):
        members = [replay.row_of_node[node] for node in group.nodes.tolist()]
        in_graph = _is_in_graph(view, group)
        drop = replay.drop_without(members, together=_together(view, replay, group) if in_graph else ())
        if is_news(drop, replay.peak_bytes):
            facts = {**_facts(replay, members), **({"kept_by_graph": True} if in_graph else {})}
            found.append(_suspect(view, replay, group, members, drop, facts))
    found += _grown_by_copying(view, replay)
    return tuple(sorted(found, key=lambda suspect: (-(suspect.peak_drop_bytes or 0), suspect.fingerprint)))


def with_higher_peaks(suspects: Iterable[Suspect], peaks: Sequence[tuple[StepProfile, Census]]) -> tuple[Suspect, ...]:
    """The suspects; those of a phase whose peak another profiled phase exceeds on the same device, with that peak: it
    does not fall with theirs."""
    replays = [Replay(profile, census) for profile, census in peaks] if len(peaks) > 1 else []
    highest: dict[str, int] = {}
    for replay in replays:
        highest[replay.device] = max(highest.get(replay.device, 0), replay.met_bytes() or 0)
    return tuple(_below_higher_peak(suspect, highest.get(suspect.device, 0)) for suspect in suspects)


def _below_higher_peak(suspect: Suspect, highest: int) -> Suspect:
    if suspect.peak_bytes is None or highest <= suspect.peak_bytes:
        return suspect
    return dataclasses.replace(suspect, facts=suspect.facts | {"higher_peak_bytes": highest})


def give_peak_figures(suspects: Iterable[Suspect], idle: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """The suspects; those that carry what is idle at the peak, too, with the figures of the peak."""
    return tuple(_with_figures(suspect, idle) for suspect in suspects)


def give_figures_of_what_rests(
    suspects: Iterable[Suspect], profile: StepProfile, census: Census
) -> tuple[Suspect, ...]:
    """The suspects; those of symptom "survivor" whose memory was there at the peak, and that no operation of the
    profiled steps touched, with the figures of the peak: it falls by all of their bytes."""
    replay = Replay(profile, census)
    if not replay.meets_peak():
        return tuple(suspects)
    untouched = replay.untouched()
    return tuple(_resting(suspect, untouched, replay.peak_bytes) for suspect in suspects)


def _resting(suspect: Suspect, untouched: frozenset[tuple[int, int]], peak_bytes: int) -> Suspect:
    if suspect.symptom != "survivor" or not suspect.storages or not suspect.storages <= untouched:
        return suspect
    size = sum(size for _, size in suspect.storages)
    return dataclasses.replace(suspect, peak_bytes=peak_bytes, peak_drop_bytes=size, peak_basis=BASIS_OF_RESTING)


def _with_figures(suspect: Suspect, idle: Sequence[Suspect]) -> Suspect:
    same = [found for found in idle if _names(suspect.cut) & _names(found.cut)] if suspect.symptom == "peak" else []
    best = max(same, key=lambda found: found.peak_drop_bytes or 0, default=None)
    if best is None:
        return suspect
    return dataclasses.replace(
        suspect, peak_bytes=best.peak_bytes, peak_drop_bytes=best.peak_drop_bytes, peak_basis=best.peak_basis
    )


class Replay:
    """The second step's memory, operation by operation, as it was and as it would be."""

    def __init__(self, profile: StepProfile, census: Census) -> None:
        self.profile, self._census = profile, census
        self.device = profile.main_device()
        self.row_of_node, self.node_of_row, static = _join(profile, census, self.device)
        self._static = static
        self._partner = _align(profile)
        self._kinds = _kinds_of_operations(profile)
        self._on_device = profile.is_on(self.device).astype(bool)
        self.alive = static + profile.bytes_alive(self.device)[profile.second :]

    def used(self) -> frozenset[tuple[int, int]]:
        """The same of those in the census that one of them made or used."""
        storages, addresses = self._census.storages, self._census.nodes.address
        rows = zip(storages.node.tolist(), storages.bytes.tolist(), strict=True)
        return frozenset((int(addresses[node]), size) for node, size in rows if self._is_touched(node))

    def untouched(self) -> frozenset[tuple[int, int]]:
        """Address and bytes of storages on the device that no operation of either step made or used."""
        return self._untouched_from(BEFORE + 1)

    def untouched_in_second(self) -> frozenset[tuple[int, int]]:
        """The same of those that no operation of the second step did: the first one may have made them."""
        return self._untouched_from(self.profile.second)

    def _untouched_from(self, first: int) -> frozenset[tuple[int, int]]:
        storages, addresses = self._census.storages, self._census.nodes.address
        rows = zip(storages.node.tolist(), storages.bytes.tolist(), storages.device.tolist(), strict=True)
        return frozenset(
            (int(addresses[node]), size)
            for node, size, place in rows
            if self._census.text(place) == self.device and not self._is_touched(node, first)
        )

    def _is_touched(self, node: int, first: int = BEFORE + 1) -> bool:
        """Whether an operation made or used a storage, the one numbered `first` or a later one."""
        row = self.row_of_node.get(node)
        return row is not None and int(self.profile.storages.last_use[row]) >= first

    @property
    def peak_bytes(self) -> int:
        """Most bytes alive in the second step, those that no operation touched included."""
        return int(self.alive.max(initial=0))

    def meets_peak(self) -> bool:
        """Whether the census was taken at the peak, or as good as."""
        at = self.profile.census_op - self.profile.second
        return 0 <= at < len(self.alive) and bool(self.alive[at] >= NEAR_PEAK * self.peak_bytes)

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

    def idle_rows(self) -> list[int]:
        """Storages that the census found alive, used for the last time before, and not to be used again."""
        storages, at = self.profile.storages, self.profile.census_op
        alive = (storages.birth < at) & ((storages.death == ALIVE) | (storages.death >= at))
        idle = alive & (storages.last_use < at) & (storages.last_use != BEFORE) & self._on_device
        heavy = storages.bytes >= _LIGHT * self.peak_bytes
        return [row for row in np.flatnonzero(idle & heavy).tolist() if self._is_dropped(row)]

    def made_nodes(self) -> Ints:
        """Storages in the census that were made in one of the two steps."""
        births = self.profile.storages.birth
        return np.array([node for row, node in self.node_of_row.items() if births[row] != BEFORE], dtype=np.int64)

    def is_from_before(self, row: int) -> bool:
        """Whether the storage was there when the second step began."""
        return int(self.profile.storages.birth[row]) < self.profile.second

    def is_spent(self, row: int) -> bool:
        """Whether no statement uses the storage after the peak: only a graph does, which saved it.

        What was there before the step must have a counterpart in the other one: else both steps use the same, as
        several passes over one rollout do, and nobody may drop it in the first.
        """
        last = int(self.profile.storages.last_use[row])
        in_backward = int(self.profile.operations.phase[last]) == Phase.BACKWARD
        if last == BEFORE or not (last <= self.profile.census_op or in_backward):
            return False
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
            earlier = storages.birth == BEFORE if last >= second else (storages.birth < second) & (storages.birth >= 0)
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
        for rows_of_name in together:
            both = self._in_both_steps(rows_of_name)
            for step in (False, True):
                of_step = [row for row in both if bool(self.profile.storages.birth[row] >= self.profile.second) is step]
                latest = max((after[row] for row in of_step), default=0)
                after |= {row: max(after[row], latest) for row in of_step}
        return self.drop_if_freed(after)

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

    def drop_if_freed(self, after: dict[int, int]) -> int:
        """By how many bytes the peak falls if each of these rows were freed after its operation."""
        freed_after = np.full(len(self.profile.storages.birth), self.profile.num_operations, dtype=np.int64)
        for row, operation in after.items():
            freed_after[row] = operation
        without = self.profile.bytes_alive(self.device, freed_after=freed_after)[self.profile.second :]
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
        """Whether the storage dies unused. What lives at the end of the profile is judged by its counterpart."""
        storages, second = self.profile.storages, self.profile.second
        if storages.death[row] != ALIVE:
            return True
        if storages.birth[row] < second > storages.last_use[row]:
            return False
        other = self.counterpart(row)
        return other is not None and bool(storages.death[other] != ALIVE and storages.last_use[other] < second)


def _align(profile: StepProfile) -> list[int]:
    """For each operation the one of the other step with the same name and place that comes as the same in order."""
    columns = profile.operations
    keys = list(zip(columns.name.tolist(), columns.site.tolist(), columns.phase.tolist(), strict=True))
    places: tuple[dict[tuple[int, int, int], list[int]], ...] = ({}, {})
    for number, key in enumerate(keys):
        places[number >= profile.second].setdefault(key, []).append(number)
    partner = [-1] * len(keys)
    for key, numbers in places[0].items():
        for one, other in zip(numbers, places[1].get(key, ()), strict=False):
            partner[one], partner[other] = other, one
    return partner


def _kinds_of_operations(profile: StepProfile) -> Ints:
    """Of each operation a number that those of its name, place and phase share."""
    columns = profile.operations
    numbers: dict[tuple[int, int, int], int] = {}
    keys = zip(columns.name.tolist(), columns.site.tolist(), columns.phase.tolist(), strict=True)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _join(profile: StepProfile, census: Census, device: str) -> tuple[dict[int, int], dict[int, int], int]:
    """Row by storage node, node by row, and the bytes on the device of storages that no operation touched."""
    storages, at = profile.storages, profile.census_op
    alive = (storages.birth <= at) & ((storages.death == ALIVE) | (storages.death >= at))
    by_address = {int(storages.address[row]): row for row in np.flatnonzero(alive).tolist()}
    row_of_node, node_of_row, static = {}, {}, 0
    columns = census.storages
    for node, size, place in zip(columns.node.tolist(), columns.bytes.tolist(), columns.device.tolist(), strict=True):
        row = by_address.get(int(census.nodes.address[node]))
        if row is not None:
            row_of_node[node], node_of_row[row] = row, node
        elif census.text(place) == device:
            static += size
    return row_of_node, node_of_row, static


def _is_lasting(view: View, replay: Replay, row: int) -> bool:
    storage = view.graph.storage_row[replay.node_of_row[row]]
    return bool(view.census.storages.role[storage] in (Role.PARAMETER, Role.BUFFER, Role.OPTIMIZER_STATE))


def _is_in_graph(view: View, group: Group) -> bool:
    """Whether an autograd graph leads to the storages: then they go with it, not one by one."""
    kinds = view.census.references.kind
    return any(
        kinds[reference] == ReferenceKind.GRAD_FN
        for node in group.nodes.tolist()
        for reference in path_to(view.graph, view.paths, node)
    )


def _together(view: View, replay: Replay, group: Group) -> list[set[int]]:
    """For each name to drop, the group's rows that it leads to: they stay until the last of them was used."""
    targets = view.census.references.target
    reached = (reach(view.graph, np.array([int(targets[each.reference])])) for each in group.cut or ())
    return [{replay.row_of_node[node] for node in group.nodes.tolist() if nodes[node]} for nodes in reached]


def _spent_records(view: View, replay: Replay, rows: Iterable[int]) -> frozenset[int]:
    """Objects on the way to idle storages that lead to nothing which the step's statements use after the peak.

    A person drops the variable that stands for such a record, not an attribute of it; of a suspended function the
    variable inside is to be dropped. Costs a search per object.
    """
    references, kinds = view.census.references, view.census.nodes.kind
    ways = (path_to(view.graph, view.paths, replay.node_of_row[row]) for row in rows)
    owners = {int(references.source[reference]) for way in ways for reference in way}
    in_graph = np.isin(references.kind, GRAPH_REFERENCES)
    return frozenset(
        node
        for node in owners
        if kinds[node] == NodeKind.OBJECT
        and view.graph.type_names[node].rpartition(".")[2] not in SUSPENDED_TYPES
        and _is_spent_record(view, replay, node, in_graph)
    )


def _is_spent_record(view: View, replay: Replay, node: int, in_graph: Bools) -> bool:
    reached = reach(view.graph, np.array([node]), without=in_graph)
    storages = view.census.storages.node
    found = [replay.row_of_node.get(storage) for storage in storages[reached[storages]].tolist()]
    return all(row is not None and replay.is_spent(row) for row in found)


def _groups(view: View, replay: Replay, rows: Sequence[int], records: frozenset[int]) -> list[Group]:
    """Storages whose cuts share a reference, or that variables of one function hold, go in one line; what was there
    before the step, as its batch is, apart from what the step made."""
    groups: list[Group] = []
    fed = {row: replay.is_from_before(row) for row in rows}
    for row in rows:
        group = _with_cut(view, np.array([replay.node_of_row[row]], dtype=np.int64), records)
        if not group.cut:
            continue
        for other in list(groups):
            if fed[row] == fed[replay.row_of_node[int(other.nodes[0])]] and belong_together(group, other):
                merged = _merged(view, group, other, records)
                if merged.cut:
                    groups.remove(other)
                    group = merged
        groups.append(group)
    return groups


def _merged(view: View, one: Group, other: Group, records: frozenset[int]) -> Group:
    """Both in one, with a cut of its own; variables of one function stay those that are dropped, for to drop a
    generator that several of its variables weigh on is no advice."""
    nodes = np.union1d(one.nodes, other.nodes)
    if set(one.cut or ()) & set(other.cut or ()):
        return _with_cut(view, nodes, records)
    return Group(view, nodes, nodes, passing=records, cut=(*(one.cut or ()), *(other.cut or ())), freed=nodes)


def _with_cut(view: View, nodes: Ints, records: frozenset[int]) -> Group:
    group = Group(view, nodes, nodes, passing=records)
    return dataclasses.replace(group, cut=cut_of(group), freed=nodes)


def _grown_by_copying(view: View, replay: Replay) -> list[Suspect]:
    """What is made larger by concatenation: for a moment the old copy and the new one are both alive."""
    storages, found = replay.profile.storages, []
    for rows in replay.copied_rows().values():
        drop = replay.drop_if_freed({row: int(storages.last_use[row]) - 1 for row in rows})
        seen = [row for row in rows if row in replay.node_of_row and not _is_lasting(view, replay, row)]
        if not seen or not is_news(drop, replay.peak_bytes):
            continue
        nodes = np.array(sorted(replay.node_of_row[row] for row in seen), dtype=np.int64)
        facts = {**_facts(replay, seen), "copied_to_grow": True}
        made = _suspect(view, replay, Group(view, nodes, nodes, cut=(), freed=nodes), seen, drop, facts)
        found.append(dataclasses.replace(made, peak_basis=BASIS_OF_COPIES))
    return found


def _suspect(
    view: View, replay: Replay, group: Group, members: Sequence[int], drop: int, facts: dict[str, object]
) -> Suspect:
    profile = replay.profile
    others = [other for row in members if (other := replay.counterpart(row)) is not None]
    size = int(profile.storages.bytes[list(members)].sum())
    series = Series(
        moment=PEAK,
        steps=(profile.step - 1, profile.step),
        bytes=(int(profile.storages.bytes[others].sum()), size),
        objects=(len(others), len(members)),
        graph_nodes=(0, 0),
    )
    measured = Measured(series=series, facts=facts)
    suspect = assemble_suspect(group, symptom="peak", measured=measured, fingerprint="")
    suspect = dataclasses.replace(suspect, holder=_outside_comprehensions(suspect))
    if suspect.holder.kind == "attribute" and suspect.holder in suspect.cut[:1]:
        record = name_of_record(view, group, replay.made_nodes())
        fields = fields_of_record(view, group)
        suspect = dataclasses.replace(suspect, holder=dataclasses.replace(suspect.holder, record=record, fields=fields))
    holders = sorted(_name_text(name) for name in _names(suspect.cut))
    return dataclasses.replace(
        suspect,
        fingerprint=fingerprint_of("idle at peak " + " + ".join(holders)),
        peak_bytes=replay.peak_bytes,
        peak_drop_bytes=drop,
        peak_basis=BASIS,
    )


def _outside_comprehensions(suspect: Suspect) -> HoldingReference:
    """The holder; for a comprehension's own variable the one that it goes through."""
    if suspect.holder.kind != "local" or not suspect.holder.scope_function.endswith(_COMPREHENSIONS):
        return suspect.holder
    outside = (each for each in suspect.cut if not each.scope_function.endswith(_COMPREHENSIONS))
    return next((each for each in outside if each.kind == "local" and each.name != "self"), suspect.holder)


def _facts(replay: Replay, members: Sequence[int]) -> dict[str, object]:
    """When the heaviest was made and used for the last time, and where the peak stands."""
    profile = replay.profile
    heaviest = max(members, key=lambda row: int(profile.storages.bytes[row]))
    birth, last = (int(column[heaviest]) for column in (profile.storages.birth, profile.storages.last_use))
    return {
        "idle_at_peak": True,
        "made_by": _operation(profile, birth),
        "last_used_by": _operation(profile, last),
        "peak_at": _operation(profile, profile.census_op),
        **({"made_before_step": True} if all(map(replay.is_from_before, members)) else {}),
        "seen_in_both_steps": all(replay.counterpart(row) is not None for row in members),
    }


def _operation(profile: StepProfile, number: int) -> dict[str, object]:
    operations, site = profile.operations, int(profile.operations.site[number])
    return {
        "operation": profile.text(int(operations.name[number])),
        "phase": Phase(int(operations.phase[number])).name.lower(),
        "file": profile.text(int(profile.sites.file[site])) if site >= 0 else None,
        "line": int(profile.sites.line[site]) if site >= 0 else None,
    }


Name = tuple[str, str, str, str]


def _names(references: Iterable[HoldingReference]) -> set[Name]:
    return {(each.kind, each.expression, each.scope_function, each.scope_file) for each in references}


def _name_text(name: Name) -> str:
    return " ".join((*name[:3], posixpath.basename(name[3].replace("\\", "/"))))
