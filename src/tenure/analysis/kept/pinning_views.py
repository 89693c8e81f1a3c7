"""Small views that pin large storages in a container that is as full as it will get: nothing grows there any more."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.groups import (
    Shapes,
    View,
    containers_of,
    fingerprint_of,
    in_order,
    owners_of,
    records_of,
    series_of_nodes,
)
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.storage_facts import pinned_bytes, storage_rows
from tenure.model.heap import Ints, Role
from tenure.model.suspect import Suspect

PINNED_BY_VIEWS = "pinned_by_views"
"""The fact that says how many storages are pinned so."""
SMALL_SHARE = 0.1
"""Of a storage: views that show more of it are not small."""
LEAST_STORAGE = 4 << 10
LEAST_BYTES = 256 << 10
LEAST_SHARE = 0.02
"""Of the bytes alive."""
FEWEST_STORAGES = 4
FEWEST_CENSUSES = 4
FEWEST_LATE = 2


def find_pinning_views(views: Sequence[View], shapes: Shapes, *, told: Collection[int]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": elements of one container, or what these have by an attribute, in every step-end
    census of the run's second half, views that together show a tenth at most of storages that its steps made. `told`
    are shapes that are known to grow.

    Costs a look at the storages of these censuses, and a cut per suspect.
    """
    ordered = in_order(views, "step-end")
    late = [view for view in ordered if 2 * view.census.step >= ordered[-1].census.step]
    if len(ordered) < FEWEST_CENSUSES or len(late) < FEWEST_LATE:
        return ()
    at_first = {identity for node in _memory(ordered[0]) for identity in ordered[0].known_by(node)}
    found = [_small_views(view, at_first) for view in ordered]
    last = ordered[-1]
    least = max(LEAST_BYTES, LEAST_SHARE * int(last.census.storages.bytes.sum()))
    lasting = set.intersection(*(set(each) for each in found[-len(late) :]))
    suspects = []
    for shape in sorted(lasting):
        known = shape in told or any(above in told for above in shapes.lineage(shape))
        if not known and pinned_bytes(last, storage_rows(last, found[-1][shape])) >= least:
            nodes = [each.get(shape, np.empty(0, dtype=np.int64)) for each in found]
            suspects.append(_suspect(ordered, nodes, shapes.text(shape)))
    return tuple(suspects)


def _memory(view: View) -> list[int]:
    storages = view.census.storages
    return [int(node) for node in storages.node[np.isin(storages.role, (Role.ACTIVATION, Role.OTHER))]]


def _small_views(view: View, at_first: Collection[tuple[int, int]]) -> dict[int, Ints]:
    """Storages that small views in containers pin, by shape, where there are several."""
    storages = view.census.storages
    shown = storages.view_bytes * storages.num_views
    small = np.isin(storages.role, (Role.ACTIVATION, Role.OTHER)) & (storages.num_views > 0)
    small &= (storages.bytes >= LEAST_STORAGE) & (shown <= SMALL_SHARE * storages.bytes)
    nodes = storages.node[small]
    found = {}
    for shape in np.unique(view.shape[nodes]).tolist():
        members = nodes[view.shape[nodes] == shape]
        members = np.array([n for n in members.tolist() if view.known_by(n).isdisjoint(at_first)], dtype=np.int64)
        if len(members) >= FEWEST_STORAGES and _containers(view, members):
            found[int(shape)] = members
    return found


def _containers(view: View, memory: Ints) -> Collection[int]:
    """Those whose elements the views are, or have by an attribute, as an event its curve."""
    tensors = np.unique(owners_of(view, memory))
    if found := containers_of(view, tensors):
        return found
    return containers_of(view, np.array(sorted(records_of(view, tensors)), dtype=np.int64))


def _suspect(views: Sequence[View], nodes: Sequence[Ints], shape: str) -> Suspect:
    last = views[-1]
    containers = _containers(last, nodes[-1])
    series = series_of_nodes("step-end", views, nodes)
    return assemble_suspect(
        Group(last, nodes[-1], nodes[-1], many=frozenset(containers)),
        symptom="survivor",
        measured=Measured(series=series, facts={PINNED_BY_VIEWS: len(nodes[-1])}),
        fingerprint=fingerprint_of(f"pinned by views {shape}"),
    )
