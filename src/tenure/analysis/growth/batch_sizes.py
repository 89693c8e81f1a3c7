"""Memory that gets larger because the batches do: longer sequences, larger images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.growth.trend import FEWEST_POINTS
from tenure.analysis.heap.assemble import storage_rows
from tenure.analysis.heap.groups import View
from tenure.model.heap import Ints, ReferenceKind, Role

LARGER, ABOUT, MOSTLY = 1.5, 0.2, 0.75
"""A batch has got larger by so much; results are about in proportion to it; at so many of the censuses."""


def is_batch(view: View, shape: int, entries: Sequence[View]) -> bool:
    """Whether what swells at one shape of `view` is the input of every forward that was seen, or always in proportion
    to one.

    `entries` are the censuses at forward entries. Where batches get longer, so do results of the step before.
    """
    if len(entries) < FEWEST_POINTS:
        return False
    if all(_is_input(entry, shape) for entry in entries[-FEWEST_POINTS:]):
        return True
    if all(_names_input(entry, view, shape) for entry in entries[-FEWEST_POINTS:]):
        return True
    own = np.array([int(view.census.storages.bytes[_rows_at(view, shape)].sum()) for view in entries])
    inputs = [_input_bytes(view) for view in entries]
    common = frozenset.intersection(*map(frozenset, inputs))
    return any(_in_proportion(own, np.array([sizes[each] for sizes in inputs])) for each in sorted(common))


def _is_input(view: View, shape: int) -> bool:
    rows = _rows_at(view, shape)
    return bool(len(rows)) and bool(np.all(view.census.storages.role[rows] == Role.INPUT))


def _names_input(entry: View, view: View, shape: int) -> bool:
    """Whether the variables that lead to the shape lead to inputs here, which a function inside may name, too."""
    members = np.flatnonzero((view.shape == shape) & (view.member > 0))
    names = {_name_of(view, int(reference)) for reference in view.paths.parent[members] if reference >= 0} - {None}
    references = entry.census.references
    candidates = np.flatnonzero(references.kind == ReferenceKind.LOCAL).tolist()
    named = {int(references.target[r]) for r in candidates if _name_of(entry, r) in names}
    memory = references.kind == ReferenceKind.STORAGE
    storages = references.target[memory & np.isin(references.source, sorted(named))]
    return bool(len(storages)) and bool(np.all(entry.census.storages.role[storage_rows(entry, storages)] == Role.INPUT))


def _name_of(view: View, reference: int) -> tuple[str, str, str] | None:
    """Of a local variable: the function, its file and the name; None of any other reference."""
    references, nodes = view.census.references, view.census.nodes
    if references.kind[reference] != ReferenceKind.LOCAL:
        return None
    source = references.source[reference]
    return (
        view.census.text(int(nodes.name[source])),
        view.census.text(int(nodes.file[source])),
        view.graph.labels[reference],
    )


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
