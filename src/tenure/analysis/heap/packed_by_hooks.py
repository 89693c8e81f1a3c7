"""Tensors that a pack hook of `saved_tensors_hooks` gave back as they are: a graph node that keeps its own result so
is in a ring, `tensor.grad_fn` and what the node saved, and part of that ring belongs to C++ (pytorch#115255)."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.analysis.heap.graph import Graph
from tenure.model.heap import NodeKind, ReferenceKind
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.store_calls import PACK_HOOKS


def pack_hook_reference(graph: Graph, ring: Sequence[int]) -> HoldingReference | None:
    """The call that put the hooks in place, where a ring goes through a tensor that one of them gave back; None where
    it goes another way."""
    references, kinds = graph.census.references, graph.census.nodes.kind
    for reference in ring:
        node, packed = int(references.source[reference]), int(references.target[reference])
        of_graph = references.kind[reference] == ReferenceKind.HOOK and kinds[node] == NodeKind.AUTOGRAD
        if of_graph and kinds[packed] == NodeKind.TENSOR:
            return HoldingReference(kind="hook", name=PACK_HOOKS, expression=PACK_HOOKS)
    return None
