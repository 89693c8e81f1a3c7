"""Of the references on the path to a group, the one that a reader is told, and those to cut."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import Bools, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.held_by_gradients import path_by_gradient
from tenure.analysis.heap.held_group import Group, cut_of, emptied, gradients_that_free, heaviest
from tenure.analysis.heap.holders import (
    Droppable,
    find_droppable,
    gradient_reference,
    gradients_with_graph,
    handler_reference,
    innermost_droppable,
)
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import is_finished_frame
from tenure.model.heap import Ints, ReferenceKind
from tenure.model.suspect import HoldingReference, is_of_optimizers

_ENTRIES = (ReferenceKind.ITEM, ReferenceKind.INDEX)


@dataclass(frozen=True)
class Chosen:
    """How a group is told.

    `path` leads to its heaviest node and `held_by` is the reference on it that is named, None where no reference can
    be dropped; `cut` frees the group. `made_by_call` names the call (a backward pass, a handler's registration) that
    made the reference where no statement of the program binds it. With `by_gradient` the group hangs on gradients
    that carry a graph.
    """

    path: tuple[int, ...]
    held_by: Droppable | None
    cut: tuple[Droppable, ...]
    made_by_call: HoldingReference | None
    by_gradient: bool


def choose_holder(group: Group, *, collects: bool) -> Chosen:
    """`collects` says that the group gains members, so that the container they come to is to blame."""
    view, graph = group.view, group.view.graph
    named = find_droppable(graph) & graph.user_made
    path = _by_the_table(view, path_to(graph, view.paths, heaviest(group, by_graph=collects)))
    in_optimizer = _reference_to_optimizer(group, path, named)
    cut = (emptied(group) if collects and in_optimizer is None else ()) or cut_of(group)
    by_gradient = path_by_gradient(view, group.nodes, path) if collects else ()
    path = by_gradient or path
    held_by, cut = _named_on_path(group, path, cut, named, collects=collects)
    if alone := _keeps_most_alone(group, cut, held_by):
        held_by, nodes = alone
        path = path_to(graph, view.paths, heaviest(replace(group, nodes=nodes), by_graph=collects))
    held_by = in_optimizer or held_by
    if not collects and held_by is not None and is_of_library(view, held_by):
        held_by = _variable_of_ended_function(view, path) or held_by
    gradient = gradient_reference(graph, path)
    if by_gradient:
        cut = gradients_with_graph(graph)
    return Chosen(
        path=path,
        held_by=held_by,
        cut=(gradients_that_free(group) if gradient else ()) or cut,
        made_by_call=gradient or handler_reference(graph, path),
        by_gradient=bool(by_gradient),
    )


def _named_on_path(
    group: Group, path: tuple[int, ...], cut: tuple[Droppable, ...], named: Bools, *, collects: bool
) -> tuple[Droppable | None, tuple[Droppable, ...]]:
    """The reference of the path that the cut drops, or else the innermost of those that are `named`; and the cut,
    another one where the same link of a chain lies on the path."""
    view = group.view
    held_by = next((dropped for dropped in cut if dropped.reference in path or _enters(view, path, dropped)), None)
    link = None if held_by else _link_of_chain(view, path, cut)
    if link is not None:
        return link, (link,)
    if held_by is None and path:
        held_by = innermost_droppable(view.graph, named, path, group.many)
    if collects and held_by is not None:
        held_by = _binding_that_changes(view, path, held_by, named, group.many)
    return held_by, cut


def _keeps_most_alone(
    group: Group, cut: tuple[Droppable, ...], held_by: Droppable | None
) -> tuple[Droppable, Ints] | None:
    """Another reference of the cut than `held_by`, without which most of what the cut frees would go, with that: a
    deque of losses rather than the variable of the newest. Who shares all of it keeps nothing alone."""
    if held_by not in cut or len(cut) < 2:
        return None
    graph, sizes = group.view.graph, group.view.graph.bytes_of_node
    wanted = freed_storages(graph, cut) if group.freed is None else group.freed
    for other in cut:
        nodes = np.intersect1d(wanted, freed_storages(graph, (other,)))
        if other != held_by and 2 * int(sizes[nodes].sum()) > int(sizes[wanted].sum()):
            return other, nodes
    return None


def _reference_to_optimizer(group: Group, path: tuple[int, ...], named: Bools) -> Droppable | None:
    """The user's reference to the optimizer in whose own tables a path ends: nobody drops entries of those.

    A path that goes on from there through a hook, or anything else that the user's own code made, ends elsewhere; and
    where it is a container of optimizers that grows, or most of the group lies in others, what has them is to blame.
    """
    graph, sources = group.view.graph, group.view.census.references.source
    inside = (at for at, r in enumerate(path) if is_of_optimizers(graph.type_names[int(sources[r])]))
    enters = next(inside, None)
    if enters is None or any(int(sources[reference]) in group.many for reference in path[:enters]):
        return None
    if any(named[reference] for reference in path[enters:]) or not _leads_to_most(group, path[enters:]):
        return None
    return next((Droppable(reference) for reference in reversed(path[:enters]) if named[reference]), None)


def _by_the_table(view: View, path: tuple[int, ...]) -> tuple[int, ...]:
    """The path; where it leads to an optimizer by a variable, as that of a loop over a table of them, by the table."""
    graph, references = view.graph, view.census.references
    if not path or references.kind[path[0]] != ReferenceKind.LOCAL:
        return path
    optimizer = int(references.target[path[0]])
    if not is_of_optimizers(graph.type_names[optimizer]):
        return path
    for reference in graph.references_to(optimizer):
        table = int(references.source[reference])
        is_entry = references.kind[reference] in _ENTRIES and not graph.instance_tables[table]
        if is_entry and graph.user_made[reference] and view.paths.held_by_root(table):
            return (*path_to(graph, view.paths, table), reference, *path[1:])
    return path


def _leads_to_most(group: Group, path: tuple[int, ...]) -> bool:
    """Half of the group's bytes, or more, can be reached from where the path starts."""
    graph = group.view.graph
    below = reach(graph, group.view.census.references.source[list(path[:1])])
    sizes = graph.bytes_of_node[group.nodes]
    return 2 * int(sizes[below[group.nodes]].sum()) >= int(sizes.sum())


def is_of_library(view: View, dropped: Droppable) -> bool:
    """Whether an installed package's object or function has the reference."""
    return bool(view.graph.library[_owner(view, dropped)])


def _variable_of_ended_function(view: View, path: tuple[int, ...]) -> Droppable | None:
    """The variable of the program's own function by which a path leaves a traceback: `sys.last_exc` alone tells a
    reader nothing."""
    graph, references = view.graph, view.census.references
    for reference in reversed(path):
        source, is_variable = int(references.source[reference]), references.kind[reference] == ReferenceKind.LOCAL
        if is_variable and is_finished_frame(graph, source) and not graph.library[source]:
            return Droppable(reference)
    return None


def _link_of_chain(view: View, path: tuple[int, ...], cut: tuple[Droppable, ...]) -> Droppable | None:
    """Where the cut is a link of a chain (`.previous.previous`): the same link where the path takes it, which lets as
    much go."""
    if len(cut) != 1 or cut[0].container >= 0:
        return None
    graph, references = view.graph, view.census.references

    def link(reference: int) -> tuple[str, str, int, str]:
        owner, target = int(references.source[reference]), int(references.target[reference])
        kind = int(references.kind[reference])
        return graph.type_names[owner], graph.labels[reference], kind, graph.type_names[target]

    same = [Droppable(reference) for reference in path if link(reference) == link(cut[0].reference)]
    if not same or not np.isin(freed_storages(graph, cut), freed_storages(graph, same[-1:])).all():
        return None
    return same[-1]


def _binding_that_changes(
    view: View, path: tuple[int, ...], held_by: Droppable, named: Bools, many: Collection[int]
) -> Droppable:
    """The reference by which a path enters the graphs or lists that grow, where the cut was made at an object above.

    Graphs of several values that share layers are freed by one reference only above all of them, as are lists in a
    dict, and such an object is mostly made once: the statement that binds the values is what adds to them. What a
    library's object holds by itself is not blamed on the variable for that object.
    """
    kinds, sources = view.census.references.kind, view.census.references.source
    enters = next((at for at, reference in enumerate(path) if kinds[reference] == ReferenceKind.GRAD_FN), None)
    if enters is None:
        enters = max((at for at, reference in enumerate(path) if int(sources[reference]) in many), default=0)
    if held_by.container >= 0 or held_by.reference not in path[:enters]:
        return held_by
    below = innermost_droppable(view.graph, named, path, many)
    return below if path.index(below.reference) > path.index(held_by.reference) else held_by


def _enters(view: View, path: tuple[int, ...], dropped: Droppable) -> bool:
    """The path takes another element out of the container that the cut empties."""
    return dropped.container >= 0 and any(
        int(view.census.references.source[reference]) == dropped.container for reference in path
    )


def _owner(view: View, dropped: Droppable) -> int:
    return dropped.container if dropped.container >= 0 else int(view.census.references.source[dropped.reference])
