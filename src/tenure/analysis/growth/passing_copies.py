"""Containers that are made anew from one that lasts: a variable for the newest copy is nearer than what keeps it all.

`seen = list(recorder.rows.values())` has every row that `recorder.rows` gains, and goes with the next step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.growing import find_growing
from tenure.analysis.heap.graph import ELEMENT_REFERENCES, Bools
from tenure.analysis.heap.groups import Shapes, View, containers_of, fingerprint, view_without
from tenure.model.suspect import Suspect

MOST_OF_IT = 0.5
"""Share of the storages of a suspect that another one must free to be the same memory."""


def told_by_what_lasts(
    views: Sequence[View], shapes: Shapes, grown: Collection[int], found: Sequence[Suspect]
) -> tuple[Suspect, ...]:
    """The suspects; those whose container was another one from census to census by the one that has its elements and
    lasts, where there is one. Costs nothing where no container passes, and else another search of each census."""
    passing = {shape: each for shape in grown if (each := _passing(views, shape))}
    if not passing:
        return tuple(found)
    names = {fingerprint(shapes, shape) for shape in passing}
    without = [set().union(*(each[at] for each in passing.values())) for at in range(len(views))]
    others = Shapes()
    by_lasting = [
        view_without(view, _elements_of(view, nodes), others) for view, nodes in zip(views, without, strict=True)
    ]
    lasting, again = find_growing(by_lasting, others)
    still = {fingerprint(others, shape) for shape in again if _passing(by_lasting, shape)}
    instead = [suspect for suspect in lasting if suspect.holder.element and suspect.fingerprint not in still]
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


def _elements_of(view: View, containers: Collection[int]) -> Bools:
    references = view.census.references
    found = np.isin(references.source, sorted(containers)) & np.isin(references.kind, ELEMENT_REFERENCES)
    return np.asarray(found, dtype=bool)


def _same_memory(suspect: Suspect, others: Sequence[Suspect]) -> Suspect | None:
    wanted = suspect.storages
    return next((each for each in others if len(wanted & each.storages) > MOST_OF_IT * len(wanted)), None)
