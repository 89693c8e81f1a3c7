"""Fields that no entry of a container is used by: of a posterior's parts the deviations, where its mean is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tenure.analysis.heap.graph import Bools, is_builtin_type
from tenure.analysis.heap.groups import View
from tenure.model.heap import Ints, NodeKind

LEAST_ENTRIES = 3
_Found = dict[tuple[int, int], dict[int, list[int]]]
"""By container and label the storages that rest, by the reference to the field that has each."""


def find_resting_fields(
    view: View, resting: Iterable[int], used: Bools, made: Bools, path_to: Callable[[int], Sequence[int]]
) -> dict[tuple[int, ...], Ints]:
    """Storages by the references that lead to them: of one container's entries, all fields that rest in each entry that
    is `used` otherwise.

    An entry that was used shows which of its fields are; one that was not may be asked for later, and says nothing.
    Nor does one that has something `made` in the profiled steps: it is the batch of one of them, in use that once.
    """
    found: _Found = {}
    for node in resting:
        place = _field(view, path_to(node))
        if place is not None:
            container, reference = place
            label = int(view.census.references.label[reference])
            found.setdefault((container, label), {}).setdefault(reference, []).append(node)
    together: dict[int, dict[int, list[int]]] = {}
    for (container, _), fields in found.items():
        owners = {_object(view, reference) for reference in fields}
        asked = {node for node in _entries(view, container) if used[node] and not made[node]}
        if asked and asked <= owners and len(owners) >= LEAST_ENTRIES:
            together.setdefault(container, {}).update(fields)
    return {
        tuple(sorted(fields)): np.array(sorted({node for nodes in fields.values() for node in nodes}), dtype=np.int64)
        for fields in together.values()
    }


def _field(view: View, path: Sequence[int]) -> tuple[int, int] | None:
    """The container and the field's reference of a path that ends so: container, object of the program, its field."""
    graph, references = view.graph, view.census.references
    for at in range(len(path) - 1, 0, -1):
        owner = int(references.source[path[at]])
        if view.census.nodes.kind[owner] != NodeKind.OBJECT or graph.instance_tables[owner]:
            continue
        if is_builtin_type(graph.type_names[owner]):
            return None
        in_table = bool(graph.instance_tables[references.target[path[at]]])
        above = int(references.source[path[at - 1]])
        is_entry = view.census.nodes.kind[above] == NodeKind.OBJECT and not graph.instance_tables[above]
        if not is_entry or not is_builtin_type(graph.type_names[above]):
            return None
        return above, path[at + in_table]
    return None


def container_of(view: View, reference: int) -> int:
    """The container by whose entry a field was found."""
    return int(view.census.references.source[view.paths.parent[_object(view, reference)]])


def _object(view: View, reference: int) -> int:
    """The object that has a field by a reference, of its table or of its own."""
    owner = int(view.census.references.source[reference])
    if not view.graph.instance_tables[owner]:
        return owner
    return next((int(view.census.references.source[r]) for r in view.graph.references_to(owner)), owner)


def _entries(view: View, container: int) -> list[int]:
    return [int(view.census.references.target[r]) for r in view.graph.references_from(container)]
