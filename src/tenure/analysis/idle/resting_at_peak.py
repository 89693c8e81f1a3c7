"""What rests at the peak: tensors that the profiled steps neither make nor use, beside all that they need.

The profile tells what was not touched, the census at its peak who holds it, the other censuses how long it stays.
Another phase of the program may use it: that cannot be seen, so all of this is possible only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import (
    GRAPH_REFERENCES,
    Bools,
    ancestors,
    is_builtin_type,
    object_of,
    reach,
    unquoted,
)
from tenure.analysis.heap.groups import View, fingerprint_of, is_bounded, series_of_rows
from tenure.analysis.heap.held_group import Group, cut_of
from tenure.analysis.heap.holders import Droppable, find_droppable
from tenure.analysis.heap.modules import module_nodes
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import identities, is_on
from tenure.analysis.idle.old_owners import attribute_of_old
from tenure.analysis.idle.peak_figures import BASIS_OF_RESTING
from tenure.analysis.idle.resting_copies import find_resting_copies
from tenure.analysis.idle.resting_fields import container_of, find_resting_fields
from tenure.analysis.idle.resting_history import History, Memory, Name, follow, memory_of
from tenure.analysis.idle.resting_optimizers import find_resting_optimizers
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.unread import Program, unread_variables
from tenure.analysis.idle.unread_fields import FieldReads, by_field
from tenure.analysis.idle.weights import weighs_enough
from tenure.model.heap import Census, Ints, NodeKind, ReferenceKind, Role
from tenure.model.source import SourceFile
from tenure.model.suspect import NEVER_READ_AGAIN, READ_BEFORE, UNREAD_FIELD, Suspect

LEAST_SHARE = 0.05
"""Of the peak."""
LEAST_SHARE_OF_WHOLE = 0.10
"""The same of a module or an optimizer beside those in use: such a one often has its turn in other steps."""
STILL = 0.5
"""Of its bytes: so much must be there in the run's last census, or other memory in its place."""
_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL)
_NOT_NAMED = ("unknown", "hidden", "hook", "cycle", "gradient", "handler")
_DATA = "torch.utils.data."
_WEIGHTS = (Role.PARAMETER, Role.BUFFER)
_NO_DATA = (*_WEIGHTS, Role.OPTIMIZER_STATE)


def find_resting_at_peak(
    replay: Replay,
    between: Sequence[Census],
    told: Iterable[Suspect],
    sources: Mapping[str, SourceFile] = MappingProxyType({}),
    *,
    used_before: Memory = frozenset(),
    carried: Collection[tuple[str, str]] = (),
) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak", the heaviest first: what no operation of the two steps touched though it lay on
    their device at the peak, and that was made in the run and stays to its end, itself or others in its place.

    None of it is a parameter or buffer, but of a copy of a module in use, or state, but of an optimizer beside one
    in use, or a gradient, input, a data loader's, in a graph, or `told` already. What lies in one container, or in
    one object's own attributes, with something that was touched is in use with it, but for fields that no statement
    of the program reads, that got it in the middle of the run, or that carry it over forwards and are made anew
    (`carried`: types of objects, and names of their fields); what only variables hold is told where the text
    of their functions in `sources` reads none of them any more; what a container with a bound holds is meant. What
    was there before the first forward is taken for the program's data, unless a module has it, it is a copy of one,
    other memory took its place since, nobody has it but a field that is read no more, or an earlier phase was seen
    to use it (`used_before`): then it is that phase's.
    Costs a few searches of the census, and a cut and a search of all censuses for what weighs enough.
    """
    peak = replay.met_bytes()
    if peak is None:
        return ()
    view = replay.view
    told = tuple(told)
    heap = _Heap(view, replay, frozenset().union(*(suspect.storages for suspect in told)), sources)
    found = []
    by_holder, late = _by_holder(heap)
    modules = find_resting_copies(view, heap.resting_weights) | find_resting_optimizers(view, heap.resting_state)
    whole = {(reference,): nodes for reference, nodes in modules.items()}
    by_holder |= whole | late
    for held_by, nodes in by_holder.items():
        least = LEAST_SHARE_OF_WHOLE if held_by in whole else LEAST_SHARE
        if not weighs_enough(int(view.graph.bytes_of_node[nodes].sum()), peak, share=least):
            continue
        is_late = held_by in late and not _is_carried(heap, held_by, carried)
        suspect = _suspect(heap, held_by, nodes, between, replay.profile.step, used_before, is_late=is_late)
        if suspect is not None and not any(set(suspect.cut) & set(other.cut) for other in told):
            found.append(dataclasses.replace(suspect, peak_bytes=peak))
    return tuple(sorted(found, key=lambda suspect: (-(suspect.peak_drop_bytes or 0), suspect.fingerprint)))


def _is_carried(heap: _Heap, held_by: Sequence[int], carried: Collection[tuple[str, str]]) -> bool:
    """Whether a field is known to carry memory over forwards."""
    names = [Name.of(heap.graph, reference) for reference in held_by]
    return any((name.owner_type, name.label) in carried for name in names)


class _Heap:
    """The census at the peak: what rests in it, and who leads to what is in use."""

    def __init__(
        self, view: View, replay: Replay, told: frozenset[tuple[int, int]], sources: Mapping[str, SourceFile]
    ) -> None:
        self.view, self.graph = view, view.graph
        self._sources = sources
        self.reads = FieldReads(view, sources)
        self._replay, self._told = replay, told
        self._in_graph = np.isin(view.census.references.kind, GRAPH_REFERENCES)
        self.modules = frozenset(module_nodes(view.graph))
        on_device = is_on(view.census, replay.device)
        here = view.census.storages.node[on_device]
        self.resting, self.resting_weights = here[self._rests(on_device)], here[self._rests_as_weight(on_device)]
        self.resting_state = here[self._is_free(on_device, self._replay.untouched(), (Role.OPTIMIZER_STATE,))]
        self.resting_in_loaders = here[self._rests_in_loader(on_device)]
        self._in_use = np.setdiff1d(here, self.resting)

    def _rests(self, chosen: Bools) -> Bools:
        """Per chosen storage: nothing touched it, no role explains it, nobody has told it."""
        return self._is_free(chosen, self._replay.untouched(), (Role.OTHER,))

    def _rests_in_loader(self, chosen: Bools) -> Bools:
        """The same of what a data loader has, as its data set's."""
        return self._is_free(chosen, self._replay.untouched(), (Role.OTHER, Role.INPUT), of=self._of_loaders)

    def _rests_as_weight(self, chosen: Bools) -> Bools:
        """Per chosen storage: a parameter or buffer that the second step did not touch, and that nobody has told: a
        copy is made in some step, which may be the first of the two."""
        return self._is_free(chosen, self._replay.untouched_in_second(), _WEIGHTS)

    def _is_free(self, chosen: Bools, untouched: Memory, roles: Sequence[Role], *, of: Bools | None = None) -> Bools:
        storages = self.view.census.storages
        nodes, their_roles = storages.node[chosen], storages.role[chosen]
        addresses, sizes = self.view.census.nodes.address[nodes].tolist(), storages.bytes[chosen].tolist()
        free = np.array([each in untouched and each not in self._told
                         for each in zip(addresses, sizes, strict=True)], dtype=bool)  # fmt: skip
        fits = of if of is not None else ~(self._of_graphs | self._of_loaders)
        return np.asarray(free & np.isin(their_roles, roles) & fits[nodes], dtype=bool)

    @cached_property
    def _of_graphs(self) -> Bools:
        """Per node: an autograd graph leads to it."""
        return reach(self.graph, np.flatnonzero(self.view.census.nodes.kind == NodeKind.AUTOGRAD))

    @cached_property
    def _of_loaders(self) -> Bools:
        """Per node: an object of `torch.utils.data` leads to it, and no graph."""
        loaders = [node for node, name in enumerate(self.graph.type_names) if name.startswith(_DATA)]
        return reach(self.graph, np.array(loaders, dtype=np.int64)) & ~self._of_graphs

    def path_to(self, node: int) -> tuple[int, ...]:
        """The references from a root to a node."""
        return path_to(self.graph, self.view.paths, node)

    @cached_property
    def unread(self) -> frozenset[int]:
        """References by variables that no statement reads any more."""
        return frozenset(unread_variables(self.view, Program(self._sources)))

    @cached_property
    def leads_to_use(self) -> Bools:
        """Per node: leads to memory of the device that does not rest."""
        return ancestors(self.graph, self._in_use, without=self._in_graph)

    @cached_property
    def leads_to_made(self) -> Bools:
        """Per node: leads to memory that was made in the profiled steps."""
        return ancestors(self.graph, self._replay.made_nodes(), without=self._in_graph)

    @cached_property
    def has_used_items(self) -> Bools:
        """Per node: it, a container of its own or an attribute of it holds memory that does not rest."""
        plain = self.graph.instance_tables.copy()
        plain |= np.array([_is_container(name) for name in self.graph.type_names], dtype=bool)
        plain |= np.isin(self.view.census.nodes.kind, (NodeKind.TENSOR, NodeKind.STORAGE))
        references = self.view.census.references
        near = ancestors(self.graph, self._in_use, without=self._in_graph | ~plain[references.source])
        found = near.copy()
        found[references.source[near[references.target] & ~self._in_graph]] = True
        return found


def _is_container(type_name: str) -> bool:
    return is_builtin_type(type_name) and type_name != "module"


_ByHolder: TypeAlias = dict[tuple[int, ...], Ints]


def _by_holder(heap: _Heap) -> tuple[_ByHolder, _ByHolder]:
    """Storages that rest, by the reference that leads to all that rests with them; of a container whose entries are in
    use, by the references to those of their fields that none is used by. And those that are other fields of an object
    in use, which may be told where they came late."""
    found: dict[int, list[int]] = {}
    inside = []
    for node in heap.resting.tolist():
        reference = _holder_of(heap, heap.path_to(node))
        if reference >= 0:
            found.setdefault(reference, []).append(node)
        else:
            inside.append(node)
    alone = {
        references: np.array(sorted(node for each in references for node in found[each]), dtype=np.int64)
        for references in _sections_together(heap, found)
    }
    told = (
        alone
        | find_resting_fields(heap.view, inside, heap.has_used_items, heap.leads_to_made, heap.path_to)
        | heap.reads.without_readers([*inside, *heap.resting_in_loaders.tolist()], heap.path_to)
    )
    fields = by_field(heap.view, inside, heap.path_to)
    return told, {held_by: nodes for held_by, nodes in fields.items() if held_by not in told}


def _sections_together(heap: _Heap, holders: Iterable[int]) -> list[tuple[int, ...]]:
    """The references, those to sections of one dict together."""
    sources = heap.view.census.references.source
    alone: list[tuple[int, ...]] = []
    by_dict: dict[int, list[int]] = {}
    for reference in sorted(holders):
        if _is_in_container(heap, reference):
            by_dict.setdefault(int(sources[reference]), []).append(reference)
        else:
            alone.append((reference,))
    return alone + [tuple(sections) for sections in by_dict.values()]


def _is_in_container(heap: _Heap, reference: int) -> bool:
    """Whether a container has what it refers to: no variable, attribute or field of an object."""
    owner = int(heap.view.census.references.source[reference])
    return _is_container(heap.graph.type_names[owner]) and not heap.graph.instance_tables[owner]


def _lie_in_entries(heap: _Heap, held_by: Sequence[int]) -> bool:
    """Whether they are fields of a container's entries, and not sections of a dict."""
    return len(held_by) > 1 and not _is_in_container(heap, held_by[0])


def _holder_of(heap: _Heap, path: Sequence[int]) -> int:
    """The reference of a path below which everything rests; -1 where its container or object is in use.

    Of an object that a variable stands for it is the attribute: the object may be there for its methods.
    """
    graph, references, kinds = heap.graph, heap.view.census.references, heap.view.census.nodes.kind
    attribute = -1
    for at in range(len(path) - 1, -1, -1):
        source = int(references.source[path[at]])
        if kinds[source] in (NodeKind.TENSOR, NodeKind.STORAGE):
            continue
        if kinds[source] != NodeKind.OBJECT:
            return attribute if attribute >= 0 else path[at]
        if graph.instance_tables[source]:
            attribute = path[at]
        elif _is_container(graph.type_names[source]):
            if heap.leads_to_use[source] or is_bounded(heap.view, source):
                return path[at] if _is_section(heap, path[at]) else -1
            attribute = -1
        else:
            in_table = at + 1 < len(path) and graph.instance_tables[references.target[path[at]]]
            attribute = attribute if in_table else path[at]
            if source in heap.modules:
                return attribute
            if heap.leads_to_use[source]:
                return -1 if heap.has_used_items[source] else attribute
    return -1


def _is_section(heap: _Heap, reference: int) -> bool:
    """Whether a reference is to a table or list that lies in a dict under a text of its own, as the parts of a
    checkpoint do: one may rest though another is in use."""
    references = heap.view.census.references
    is_item = references.kind[reference] == ReferenceKind.ITEM
    label = heap.graph.labels[reference]
    return bool(
        is_item and unquoted(label) != label and _is_container(heap.graph.type_names[references.target[reference]])
    )


def _suspect(
    heap: _Heap,
    held_by: tuple[int, ...],
    nodes: Ints,
    between: Sequence[Census],
    step: int,
    used_before: Memory,
    *,
    is_late: bool,
) -> Suspect | None:
    view = heap.view
    mine = identities(view, nodes)
    if len(held_by) == 1 and between and mine.isdisjoint(memory_of(between[0])):
        paths = [heap.path_to(node) for node in nodes.tolist()]
        held_by = (attribute_of_old(heap.graph, paths, held_by[0], between[0]),)
    group = _with_cut(heap, held_by, nodes)
    if not group.cut:
        return None
    kinds = view.census.references.kind
    if all(kinds[each.reference] in _VARIABLES and each.container < 0 for each in group.cut):
        return _unread_suspect(heap, group) if heap.unread.issuperset(each.reference for each in group.cut) else None
    roles = sorted(set(view.census.storages.role[np.isin(view.census.storages.node, nodes)].tolist()))
    names = {Name.of(heap.graph, reference) for reference in held_by}
    history = follow(between, names, mine, step=step, roles=[Role(role) for role in roles])
    if history is None or history.series.bytes[-1] < STILL * sum(size for _, size in mine):
        return None
    if is_late and not history.came_late:
        return None
    is_unread = len(held_by) == 1 and heap.reads.is_unread(held_by[0])
    read_before = heap.reads.read_before(held_by[0]) if len(held_by) == 1 else None
    is_data = history.from_start and not history.times_replaced and not mine <= used_before
    is_data &= not any(_is_on_a_module(heap, reference) for reference in held_by) and not set(roles) <= set(_NO_DATA)
    is_data &= not ((is_unread or read_before is not None) and tuple(each.reference for each in group.cut) == held_by)
    if is_data:
        return None
    facts = _facts(history) | ({"rests_in_each_entry": True} if _lie_in_entries(heap, held_by) else {})
    facts |= {UNREAD_FIELD: True} if is_unread else {} if read_before is None else {READ_BEFORE: read_before}
    suspect = assemble_suspect(
        group, symptom="peak", measured=Measured(series=history.series, facts=facts), fingerprint=""
    )
    if suspect.holder.kind in _NOT_NAMED:
        return None
    return _with_figures(suspect, sorted(f"{each.owner_type} {each.name}" for each in suspect.cut))


def _is_on_a_module(heap: _Heap, reference: int) -> bool:
    """Whether an attribute of a module has it, as a model has its cache for generation."""
    graph, owner = heap.graph, int(heap.view.census.references.source[reference])
    return object_of(graph, owner) in heap.modules


def _unread_suspect(heap: _Heap, group: Group) -> Suspect:
    """What variables alone hold that nobody reads again."""
    row = (int(heap.graph.bytes_of_node[group.nodes].sum()), len(group.nodes))
    series = series_of_rows(heap.view.census.moment, [heap.view], [row])
    facts: dict[str, object] = {"idle_at_peak": True, NEVER_READ_AGAIN: True}
    suspect = assemble_suspect(group, symptom="peak", measured=Measured(series=series, facts=facts), fingerprint="")
    return _with_figures(suspect, sorted(f"{each.scope_function} {each.name}" for each in suspect.cut))


def _with_figures(suspect: Suspect, holders: Iterable[str]) -> Suspect:
    return dataclasses.replace(
        suspect,
        fingerprint=fingerprint_of("rests at peak " + " + ".join(holders)),
        peak_drop_bytes=suspect.retained_bytes,
        peak_basis=BASIS_OF_RESTING,
    )


def _with_cut(heap: _Heap, held_by: tuple[int, ...], nodes: Ints) -> Group:
    """The storages with their holders as the cut; where others hold them too, with the cut that frees them."""
    many = frozenset({container_of(heap.view, held_by[0])} if _lie_in_entries(heap, held_by) else ())
    group = Group(heap.view, nodes, nodes, many=many, cut=tuple(map(Droppable, held_by)), freed=nodes)
    freed = freed_storages(heap.graph, group.cut or ())
    if find_droppable(heap.graph)[list(held_by)].all() and np.isin(nodes, freed).all():
        return group
    return dataclasses.replace(group, cut=cut_of(dataclasses.replace(group, cut=None)))


def _facts(history: History) -> dict[str, object]:
    return {
        "idle_at_peak": True,
        "rests": True,
        "last_seen_step": history.series.steps[-1],
        "times_replaced": history.times_replaced,
    }
