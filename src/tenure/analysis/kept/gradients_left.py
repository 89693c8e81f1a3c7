"""Gradients that nobody reads: kept, through the second half of a run, by parameters that are in no optimizer, or in
one that steps no more while others do."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect, drops_of
from tenure.analysis.heap.graph import PASSING_BY, Bools, Graph, reach, unquoted
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, in_order, series_of_rows
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable, find_droppable, holding_reference, innermost_droppable
from tenure.analysis.heap.modules import all_below, called_at, children_of_modules, modules_of_all
from tenure.analysis.heap.optimizers import optimizer_nodes, stepped_no_more
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import storage_rows
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import (
    OPTIMIZER_STOPPED,
    PART_WITH_GRADIENTS,
    PARTS_WITH_GRADIENTS,
    TRAINED_BEFORE,
    Suspect,
)

LEAST_BYTES = 256 << 10
LEAST_SHARE = 0.02
"""Of the bytes alive."""
LEAST_CENSUSES = 3
MOST_KINDS = 2
"""Of parts of one model that are told each by itself."""
LEAST_LATER = 2
"""Censuses in which they are the same: those of the run's second half, and what comes before a single one."""


@dataclass(frozen=True)
class _Left:
    """A module, or a parameter of none, all of whose gradients are left; nodes of the last census."""

    owner: int
    gradients: Ints
    """Storages."""
    addresses: frozenset[int]
    """Of the parameters that have them."""
    top: int = -1
    """The outermost module that it is a part of."""
    parts: int = 0
    """Of a module whose parts have them, as others of its parts are trained: how many."""
    stopped: bool = False
    """Whether an optimizer has the parameters, which steps no more."""


def find_gradients_left(views: Sequence[View], shapes: Shapes) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": gradients of parameters that no optimizer steps, the same in every later census.

    Each backward adds to such gradients, or none does any more; no step uses them. `cut` names the module or
    parameter whose `.grad` are to be dropped. Looked at where a forward is entered, else at the steps' ends.
    Programs without an optimizer update by hand and are not judged.
    """
    ordered = _watched(views)
    if len(ordered) < LEAST_CENSUSES or not optimizer_nodes(ordered[-1].graph):
        return ()
    last = ordered[-1]
    num_in_half = sum(2 * view.census.step >= last.census.step for view in ordered)
    later = ordered[-max(num_in_half, LEAST_LATER) :]
    lasting = frozenset.intersection(*(_gradient_identities(view) for view in later))
    ends = [view for view in in_order(views, "step-end") if view.census.step >= later[0].census.step]
    by_shape: dict[int, list[_Left]] = {}
    for left in _find_left(last, lasting, stepped_no_more([*ends, last], first=ordered[0])):
        if last.paths.parent[left.owner] < 0 or (left.stopped and not _is_called(later, left.owner)):
            continue  # held by the evaluation stack alone, nobody has a name to drop; or it rests with its optimizer
        by_shape.setdefault(int(last.shape[left.owner]), []).append(left)
    least = max(LEAST_BYTES, LEAST_SHARE * int(last.census.storages.bytes.sum()))
    return tuple(
        _suspect(ordered, group, shapes.text(shape))
        for shape, group in by_shape.items()
        if int(last.graph.bytes_of_node[_memory(group)].sum()) >= least
    )


def _watched(views: Sequence[View]) -> list[View]:
    return max((in_order(views, moment) for moment in ("forward-entry", "step-end")), key=len)


def _is_called(later: Sequence[View], owner: int) -> bool:
    """Whether some forward since the first of these went through a module of the last one, or its parts."""
    nodes = later[-1].census.nodes
    if nodes.kind[owner] == NodeKind.TENSOR:
        return True
    inside = all_below(children_of_modules(later[-1].graph), owner)
    addresses = nodes.address[sorted(inside)].tolist()
    return not all(called_at(view.graph).isdisjoint(addresses) for view in later[1:])


def _gradient_identities(view: View) -> frozenset[int]:
    gradients = view.census.storages.role == Role.GRADIENT
    return frozenset(view.census.storage_identities[gradients].tolist())


class _Leaves:
    """Parameters of one census with the storage of their gradient, where it is one of those asked for."""

    def __init__(self, graph: Graph, lasting: frozenset[int], stopped: Collection[int] = ()) -> None:
        self.graph = graph
        self._stopped = stopped
        references = graph.census.references
        memory = dict(_pairs(graph, ReferenceKind.STORAGE))
        known = self.parameters
        self.gradient_of = {
            leaf: memory[gradient]
            for leaf, gradient in _pairs(graph, ReferenceKind.GRAD)
            if leaf in known and gradient in memory and graph.identity_of_storage[memory[gradient]] in lasting
        }
        self.without = np.isin(references.kind, PASSING_BY)

    @cached_property
    def parameters(self) -> frozenset[int]:
        """Tensors whose memory is a parameter's."""
        storages = self.graph.census.storages
        memory = set(storages.node[storages.role == Role.PARAMETER].tolist())
        return frozenset(tensor for tensor, storage in _pairs(self.graph, ReferenceKind.STORAGE) if storage in memory)

    @cached_property
    def trained(self) -> Bools:
        """Per node: an optimizer that steps leads to it."""
        return self._had_by(node for node in optimizer_nodes(self.graph) if node not in self._stopped)

    @cached_property
    def stopped(self) -> Bools:
        """Per node: one leads to it that steps no more."""
        return self._had_by(self._stopped)

    def _had_by(self, optimizers: Iterable[int]) -> Bools:
        return reach(self.graph, np.array(sorted(optimizers), dtype=np.int64), without=self.without)

    def below(self, node: int) -> list[int]:
        """Parameters of a module and of those inside it."""
        found = reach(self.graph, np.array([node]), without=self.without)
        return [leaf for leaf in self.parameters if found[leaf]]


def _pairs(graph: Graph, kind: ReferenceKind) -> list[tuple[int, int]]:
    references = graph.census.references
    chosen = references.kind == kind
    return list(zip(references.source[chosen].tolist(), references.target[chosen].tolist(), strict=True))


def _find_left(view: View, lasting: frozenset[int], stopped: Collection[int]) -> list[_Left]:
    """The outermost modules without a trained parameter, then parameters that stand alone, by what is left of them."""
    graph, leaves = view.graph, _Leaves(view.graph, lasting, stopped)
    waiting_leaves = {leaf for leaf in leaves.gradient_of if not leaves.trained[leaf]}
    children = children_of_modules(graph)
    inside = {child for below in children.values() for child in below}
    waiting = [(node, node) for node in children if node not in inside and view.paths.held_by_root(node)]
    found = []
    while waiting and waiting_leaves:
        node, top = waiting.pop(0)
        below = leaves.below(node)
        mine = waiting_leaves.intersection(below)
        if not mine:
            continue
        if any(leaves.trained[leaf] for leaf in below):
            waiting += [(child, top) for child in children[node]]
            continue
        waiting_leaves -= mine
        found.append(_left(leaves, node, mine, top))
    alone = [_left(leaves, leaf, [leaf], -1) for leaf in sorted(waiting_leaves)]
    return _told_by_their_models(view, found) + alone


def _left(leaves: _Leaves, owner: int, chosen: Collection[int], top: int) -> _Left:
    gradients = np.array(sorted({leaves.gradient_of[leaf] for leaf in chosen}), dtype=np.int64)
    addresses = frozenset(leaves.graph.census.nodes.address[sorted(chosen)].tolist())
    return _Left(owner, gradients, addresses, top, stopped=any(leaves.stopped[leaf] for leaf in chosen))


def _told_by_their_models(view: View, found: Sequence[_Left]) -> list[_Left]:
    """What is left, by the model where parts of many kinds in it have some: one statement says that they are trained no
    more, not one for each."""
    by_model: dict[int, list[_Left]] = {}
    for left in found:
        by_model.setdefault(left.top, []).append(left)
    told = []
    for top, parts in by_model.items():
        if len({int(view.shape[left.owner]) for left in parts}) <= MOST_KINDS:
            told += parts
        else:
            told.append(
                _Left(top, _memory(parts), frozenset().union(*(each.addresses for each in parts)), top, len(parts))
            )
    return told


def _memory(group: Sequence[_Left]) -> Ints:
    return np.unique(np.concatenate([left.gradients for left in group]))


def _suspect(ordered: Sequence[View], group: Sequence[_Left], shape: str) -> Suspect:
    last = ordered[-1]
    memory = _memory(group)
    identities = last.census.storage_identities[storage_rows(last, memory)]
    heaviest = max(group, key=lambda left: (int(last.graph.bytes_of_node[left.gradients].sum()), -left.owner))
    rows = [_weight(view, identities) for view in ordered]
    dropped = _name_of(last, heaviest.owner)
    suspect = assemble_suspect(
        Group(last, memory, memory, cut=(dropped,), freed=memory),
        symptom="survivor",
        measured=Measured(
            series=series_of_rows(last.census.moment, ordered, rows),
            facts={"gradients_of": last.graph.type_names[heaviest.owner], "parameters_with_gradient": len(memory)}
            | _part_of(last, heaviest)
            | ({PARTS_WITH_GRADIENTS: heaviest.parts} if heaviest.parts else {})
            | ({OPTIMIZER_STOPPED: True} if heaviest.stopped else {})
            | ({TRAINED_BEFORE: True} if _were_trained(ordered, heaviest) else {}),
        ),
        fingerprint=fingerprint_of(f"gradients left {shape}"),
    )
    holder = holding_reference(last.graph, last.paths, dropped)
    drops = drops_of(last.graph, (Droppable(reference) for reference in _gradient_references(last, memory)))
    return dataclasses.replace(suspect, holder=holder, cut=(holder,), drops=drops)


def _part_of(view: View, left: _Left) -> dict[str, object]:
    """The type of the modules inside, where all that has gradients is theirs and the owner has more."""
    leaves = np.flatnonzero(np.isin(view.census.nodes.address, sorted(left.addresses))).tolist()
    modules = modules_of_all(view.graph, leaves)
    names = {view.graph.type_names[module] for module in modules}
    return {PART_WITH_GRADIENTS: names.pop()} if len(names) == 1 and left.owner not in modules else {}


def _were_trained(ordered: Sequence[View], left: _Left) -> bool:
    """An optimizer had some of the parameters in an earlier census."""
    return any(
        np.isin(view.census.nodes.address[_Leaves(view.graph, frozenset()).trained], sorted(left.addresses)).any()
        for view in ordered[:-1]
    )


def _gradient_references(view: View, storages: Ints) -> list[int]:
    """The `.grad` of parameters that lead to these storages."""
    references = view.census.references
    tensors = references.source[np.isin(references.target, storages) & (references.kind == ReferenceKind.STORAGE)]
    return np.flatnonzero(np.isin(references.target, tensors) & (references.kind == ReferenceKind.GRAD)).tolist()


def _name_of(view: View, node: int) -> Droppable:
    """The nearest name of a module or parameter that a statement gave it; a number in a list of layers is none."""
    graph = view.graph
    path = path_to(graph, view.paths, node)
    for reference in reversed(path):
        if attribute_name(graph, reference).isidentifier() or _is_entry_by_name(graph, reference):
            return Droppable(reference)
        if find_droppable(graph)[reference]:
            return Droppable(reference)
    return innermost_droppable(graph, find_droppable(graph) & graph.user_made, path, ())


def _is_entry_by_name(graph: Graph, reference: int) -> bool:
    """`nets['encoder']`, of a dict of the program's own or a ModuleDict."""
    references, label = graph.census.references, graph.labels[reference]
    table = references.source[reference]
    in_own = graph.user_made[reference] and (not graph.instance_tables[table] or graph.lists_of_modules[table])
    return bool(references.kind[reference] == ReferenceKind.ITEM and in_own and label != unquoted(label))


def _weight(view: View, identities: Ints) -> tuple[int, int]:
    """Bytes and number of some storages in one census, where they are gradients there."""
    storages = view.census.storages
    mine = (storages.role == Role.GRADIENT) & np.isin(view.census.storage_identities, identities)
    return int(storages.bytes[mine].sum()), int(mine.sum())
