"""What is made anew from what lasts: a variable for the newest copy, or view, is nearer than what keeps it all.

`seen = list(recorder.rows.values())` has every row that `recorder.rows` gains, and goes with the next step; a
variable for a part of a workspace is no reason for the workspace to grow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.growing import find_growing
from tenure.analysis.heap.graph import ELEMENT_REFERENCES, Bools
from tenure.analysis.heap.groups import Shapes, View, containers_of, fingerprint, view_without
from tenure.model.heap import Ints, ReferenceKind
from tenure.model.suspect import Suspect

MOST_OF_IT = 0.5
"""Share of the storages of a suspect that another one must free to be the same memory."""


def told_by_what_lasts(
    views: Sequence[View], shapes: Shapes, grown: Collection[int], found: Sequence[Suspect]
) -> tuple[Suspect, ...]:
    """The suspects; those whose container was another one from census to census by the one that has its elements and
    lasts, where there is one, and those whose memory a variable and another tensor share by what has that.
    Costs nothing where no container passes and no variable's memory grows, and else another search of each census."""
    copies = {shape: each for shape in grown if (each := _passing(views, shape))}
    parts = {shape: each for shape in grown if shape not in copies and (each := _ways_of_variables(views, shape))}
    if not copies and not parts:
        return tuple(found)
    names = {fingerprint(shapes, shape) for shape in copies | parts}
    without = [
        _elements_of(view, _all_at(copies, at)) | _marked(view, _all_at(parts, at)) for at, view in enumerate(views)
    ]
    others = Shapes()
    by_lasting = [view_without(view, references, others) for view, references in zip(views, without, strict=True)]
    lasting, again = find_growing(by_lasting, others)
    still = {fingerprint(others, shape) for shape in again if _passing(by_lasting, shape)}
    instead = [each for each in lasting if (each.holder.element or parts) and each.fingerprint not in still]
    told = {each.fingerprint: _same_memory(each, instead) for each in found if each.fingerprint in names}
    better = {each.fingerprint: each for each in told.values() if each is not None}
    kept = [each for each in found if told.get(each.fingerprint) is None and each.fingerprint not in better]
    return (*better.values(), *kept)


def _passing(views: Sequence[View], shape: int) -> list[set[int]]:
    """Per census the containers whose elements a shape's members are, where most of them are others than those of the
    census before; nothing where they last, or where the members are no elements."""
    found = [containers_of(view, view.members(shape)) for view in views]
    places = [set(view.census.nodes.address[sorted(nodes)].tolist()) for view, nodes in zip(views, found, strict=True)]
    pairs = [(one, two) for one, two in pairwise(places) if one and two]
    moved = sum(one.isdisjoint(two) for one, two in pairs)
    return found if moved >= 2 and 2 * moved >= len(pairs) else []


def _ways_of_variables(views: Sequence[View], shape: int) -> list[set[int]]:
    """Per census the references to the storages at a shape from tensors that a variable stands for, where another
    tensor has them by no variable; nothing where one such storage is not so had, or where none lasted from a census to
    the next: what is made anew in each step is made by the variable's statement."""
    storages = [np.intersect1d(np.flatnonzero(view.shape == shape), view.census.storages.node) for view in views]
    found: list[set[int]] = []
    for view, nodes in zip(views, storages, strict=True):
        found.append(set())
        for node in nodes.tolist():
            way = _way_of_variable(view, node)
            if way < 0:
                return []
            found[-1].add(way)
    return found if _last_some(views, storages) else []


def _last_some(views: Sequence[View], storages: Sequence[Ints]) -> bool:
    found = [
        {view.graph.identity_of_storage[node] for node in nodes.tolist()}
        for view, nodes in zip(views, storages, strict=True)
    ]
    return any(one & two for one, two in pairwise(found))


def _way_of_variable(view: View, storage: int) -> int:
    """The reference of a variable's tensor by which the shortest path comes to a storage; -1 where no variable has it,
    or nothing but variables."""
    sources, way = view.census.references.source, int(view.paths.parent[storage])
    if way < 0 or not _is_variables(view, int(sources[way])):
        return -1
    tensors = (int(sources[each]) for each in view.graph.references_to(storage))
    others = (tensor for tensor in tensors if not _is_variables(view, tensor))
    return way if any(view.paths.held_by_root(tensor) for tensor in others) else -1


def _is_variables(view: View, tensor: int) -> bool:
    """Whether only variables have a tensor."""
    kinds = view.census.references.kind
    return all(kinds[each] == ReferenceKind.LOCAL for each in view.graph.references_to(tensor))


def _all_at(found: Mapping[int, Sequence[set[int]]], at: int) -> set[int]:
    return set().union(*(each[at] for each in found.values()))


def _marked(view: View, references: Collection[int]) -> Bools:
    marked = np.zeros(len(view.census.references.kind), dtype=bool)
    marked[list(references)] = True
    return marked


def _elements_of(view: View, containers: Collection[int]) -> Bools:
    references = view.census.references
    found = np.isin(references.source, sorted(containers)) & np.isin(references.kind, ELEMENT_REFERENCES)
    return np.asarray(found, dtype=bool)


def _same_memory(suspect: Suspect, others: Sequence[Suspect]) -> Suspect | None:
    wanted = suspect.storages
    return next((each for each in others if len(wanted & each.storages) > MOST_OF_IT * len(wanted)), None)
