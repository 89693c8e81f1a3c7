"""Memory that gets larger because the batches do: longer sequences, larger images."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.trend import FEWEST_POINTS
from tenure.analysis.heap.graph import ELEMENT_REFERENCES, GRAPH_REFERENCES, reach
from tenure.analysis.heap.groups import Shapes, View, owners_of, records_of
from tenure.analysis.heap.storage_facts import storage_rows
from tenure.model.heap import Ints, ReferenceKind, Role

LARGER, ABOUT, MOSTLY = 1.5, 0.2, 0.75
"""A batch has got larger by so much; results are about in proportion to it; at so many of the censuses."""
FEWEST_INPUTS = 2
"""Forwards that were seen to take it: of a run in several phases the last ones may have no more."""

_HANDED_ON = (ReferenceKind.LOCAL, *ELEMENT_REFERENCES)
"""How a function has a batch, and a queue."""


def find_batches(
    views: Sequence[View], shapes: Shapes, swelling: Sequence[int], entries: Sequence[View], own_bytes: Ints
) -> frozenset[int]:
    """Of the shapes at which something swells, those of batches, and of what the same function or object has beside one
    in proportion to it: labels. `own_bytes` are those of each view (row) and shape (column)."""
    found = [shape for shape in swelling if _is_batch(views, shape, entries)]

    def goes_with_one(shape: int) -> bool:
        beside = (each for each in found if _has(shapes, each) == _has(shapes, shape))
        return any(_in_proportion(own_bytes[:, shape], own_bytes[:, each]) for each in beside)

    return frozenset((*found, *filter(goes_with_one, swelling)))


def _has(shapes: Shapes, shape: int) -> int:
    """The shape of what has the tensors whose memory has this one."""
    return shapes.parent[max(shapes.parent[shape], 0)]


def _is_batch(views: Sequence[View], shape: int, entries: Sequence[View]) -> bool:
    """Whether what swells at one shape is the input of every forward that was seen, or always in proportion to one.

    `entries` are the censuses at forward entries, `views` those at which it swells. Where batches get longer, so do
    results of the step before, and what comes with a batch; a function that is entered may have it by another name.
    Of a pool that is full, whose entries are replaced now and then, the largest one is in proportion. What an object
    has that a variable or a queue holds is a batch where all else that it has is made anew with it.
    """
    if _comes_with_others(views, shape):
        return True
    there = [view for view in entries if len(_rows_at(view, shape))][-FEWEST_POINTS:]
    if len(there) >= FEWEST_INPUTS and all(_is_input(view, shape) for view in there):
        return True
    if len(entries) < FEWEST_POINTS:
        return False
    ends = {view.census.step: view for view in views}
    pairs = [(ends[entry.census.step], entry) for entry in entries if entry.census.step in ends]
    is_full = len({len(_rows_at(view, shape)) for view in views[-FEWEST_POINTS:]}) == 1
    at_entries = [(entry, entry) for entry in entries]
    return any(_follows_inputs(shape, each, or_largest=is_full) for each in (at_entries, pairs))


def _follows_inputs(shape: int, pairs: Sequence[tuple[View, View]], *, or_largest: bool) -> bool:
    """Whether what is there in the first of each pair is in proportion to an input in the second; or the largest of
    it is."""
    if not pairs:
        return False
    there = [view.census.storages.bytes[_rows_at(view, shape)] for view, _ in pairs]
    inputs = [_input_bytes(entry) for _, entry in pairs]
    common = sorted(frozenset.intersection(*map(frozenset, inputs)))
    own = [np.array([int(sizes.sum()) for sizes in there])]
    own += [np.array([int(sizes.max(initial=0)) for sizes in there])] if or_largest else []
    return any(_in_proportion(row, np.array([sizes[each] for sizes in inputs])) for each in common for row in own)


def _comes_with_others(views: Sequence[View], shape: int) -> bool:
    """Whether what swells is an attribute of objects that a variable or a queue has, with others, none of which stays
    for more steps than there are such objects: a batch, also where a thread prepares it."""
    seen = [(view.census.step, *_objects_of_it(view, shape)) for view in views]
    pairs = [
        before.isdisjoint(after)
        for (step, waiting, before), (later, _, after) in pairwise(seen)
        if before and after and later - step > waiting
    ]
    return len(pairs) >= FEWEST_POINTS and all(pairs) and bool(seen[-1][2])


def _objects_of_it(view: View, shape: int) -> tuple[int, frozenset[int]]:
    """How many objects have what swells, and the identities of all storages that they have: none where they have no
    others or are not handed on."""
    kinds, own = view.census.references.kind, _rows_at(view, shape)
    tensors = np.unique(owners_of(view, view.census.storages.node[own]))
    objects = np.array(sorted(records_of(view, tensors)), dtype=np.int64)
    held_by = view.paths.parent[objects]
    if np.any(held_by < 0) or not np.isin(kinds[held_by], _HANDED_ON).all():
        return 0, frozenset()
    below = reach(view.graph, objects, without=np.isin(kinds, GRAPH_REFERENCES))
    rows = below[view.census.storages.node]
    identities = view.census.storage_identities[rows].tolist() if np.count_nonzero(rows) > len(own) else ()
    return len(objects), frozenset(identities)


def _is_input(view: View, shape: int) -> bool:
    rows = _rows_at(view, shape)
    return bool(len(rows)) and bool(np.all(view.census.storages.role[rows] == Role.INPUT))


def _rows_at(view: View, shape: int) -> Ints:
    return storage_rows(view, np.flatnonzero(view.shape == shape))


def _input_bytes(view: View) -> dict[int, int]:
    """Bytes of the inputs by shape."""
    storages = view.census.storages
    rows = np.flatnonzero(storages.role == Role.INPUT)
    found: dict[int, int] = {}
    for shape, size in zip(view.shape[storages.node[rows]].tolist(), storages.bytes[rows].tolist(), strict=True):
        found[shape] = found.get(shape, 0) + size
    return found


def _in_proportion(own: Ints, batch: Ints) -> bool:
    """Mostly the same multiple of the batch, which itself got larger: longer sequences have larger results."""
    there = (own > 0) & (batch > 0)
    if there.sum() < FEWEST_POINTS or batch[there][-1] < LARGER * batch[there][0]:
        return False
    ratios = own[there] / batch[there]
    alike = np.abs(ratios / np.median(ratios) - 1) <= ABOUT
    return bool(alike.mean() >= MOSTLY)
