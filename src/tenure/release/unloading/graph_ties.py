"""Which results of a module a holder keeps with their graphs: those graphs lead to the module's parameters."""

from __future__ import annotations

import gc
from collections.abc import Collection, Sequence

import torch

from tenure.capture.heap.autograd import GraphWalk, is_autograd_type, node_budget


def tied_to(parameters: Collection[int], tensors: Sequence[torch.Tensor]) -> set[int]:
    """Ids of those tensors, all with a graph, whose graph leads to one of the parameters (ids).

    Walks the graphs as a census does, within its budget: a tie that lies beyond it is not seen. Nothing of the walk is
    held afterwards. Costs two looks at all objects, and nothing where there are no tensors.
    """
    if not tensors:
        return set()
    node_types = {cls for cls in set(map(type, gc.get_objects())) if is_autograd_type(cls)}
    walk = GraphWalk((id(item) for item in gc.get_objects() if type(item) in node_types), budget=node_budget())
    roots = walk.walk_tensors(tensors)
    tied = {number for number, visited in enumerate(walk.nodes) if id(visited.leaf) in parameters}
    above: dict[int, list[int]] = {}
    for number, visited in enumerate(walk.nodes):
        for follower, _ in visited.next:
            above.setdefault(follower, []).append(number)
    waiting = list(tied)
    while waiting:
        for number in above.get(waiting.pop(), ()):
            if number not in tied:
                tied.add(number)
                waiting.append(number)
    return {id(tensor) for tensor, node in zip(tensors, roots, strict=True)
            if node is not None and walk.numbers[id(node)] in tied}  # fmt: skip
