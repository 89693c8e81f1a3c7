"""Which storages a census finds kept by autograd graphs: saved for backward, or held by what a graph holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from tenure.model.heap import ROOT_KINDS, Census, NodeKind, ReferenceKind

_NOT_MEMORY = (ReferenceKind.GRAD,)


def kept_by_graphs(census: Census, modules: Collection[int]) -> list[int]:
    """Rows of `census.storages` that graphs lead to: saved slots, what hooks packed, what a Function keeps on `ctx`.

    The way ends at roots, at the objects with the addresses of `modules`, whose own tensors no graph keeps, and at
    gradients. Leaves are among the rows, as parameters are. Cost: a microsecond per reference.
    """
    nodes, references = census.nodes, census.references
    stops = {
        number
        for number, (kind, address) in enumerate(zip(nodes.kind.tolist(), nodes.address.tolist(), strict=True))
        if kind in ROOT_KINDS or (kind == NodeKind.OBJECT and address in modules)
    }
    below: defaultdict[int, list[int]] = defaultdict(list)
    columns = (references.source, references.target, references.kind)
    for source, target, kind in zip(*(column.tolist() for column in columns), strict=True):
        if kind not in _NOT_MEMORY and target not in stops:
            below[source].append(target)
    waiting = [number for number, kind in enumerate(nodes.kind.tolist()) if kind == NodeKind.AUTOGRAD]
    seen = set(waiting)
    while waiting:
        for target in below.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return [row for row, node in enumerate(census.storages.node.tolist()) if node in seen]
