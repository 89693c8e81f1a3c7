"""What a retention path tells of a custom autograd Function's ctx that it goes through."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.heap.graph import Bools, reach
from tenure.analysis.heap.groups import View
from tenure.model.heap import BUFFERS_FREED, Ints, NodeKind, ReferenceKind, Role

MOSTLY = 0.9
"""Of the bytes of a graph; what else is left are outputs of a few elements, and what only some step had."""
_OF_THE_MODEL = (Role.PARAMETER, Role.BUFFER, Role.GRADIENT, Role.OPTIMIZER_STATE)
_NAMED = (ReferenceKind.ATTRIBUTE, ReferenceKind.DICT)


def ctx_facts(view: View, path: Sequence[int], graph_nodes: Ints) -> dict[str, object]:
    """Facts by name, none where the path goes through no attribute of a ctx:

    - `ctx_type`, `ctx_attribute`: whose it is and what it is called,
    - `left_on_ctx`: a backward pass has been through these graph nodes, and attributes of a ctx alone lead to most of
      the memory behind them, and so not what backward would have freed.

    Costs two searches of the census where there is a ctx.
    """
    graph, references = view.graph, view.census.references
    on_ctx = view.census.nodes.kind[references.source] == NodeKind.AUTOGRAD
    on_ctx &= np.isin(references.kind, _NAMED)
    at = next((at for at, reference in enumerate(path) if on_ctx[reference]), -1)
    if at < 0:
        return {}
    by_table = references.kind[path[at]] == ReferenceKind.DICT and at + 1 < len(path)
    label = graph.labels[path[at + 1] if by_table else path[at]]
    facts: dict[str, object] = {
        "ctx_type": graph.type_names[int(references.source[path[at]])],
        "ctx_attribute": label.strip("'\""),
    }
    if bool(np.any(view.census.nodes.flags[graph_nodes] & BUFFERS_FREED)) and _leads_to_most(view, graph_nodes, on_ctx):
        facts["left_on_ctx"] = True
    return facts


def _leads_to_most(view: View, graph_nodes: Ints, on_ctx: Bools) -> bool:
    """Whether these references lead to most of the memory behind graph nodes that is not the model's."""
    storages = view.census.storages
    of_step = storages.node[~np.isin(storages.role, _OF_THE_MODEL)]
    found = reach(view.graph, graph_nodes)[of_step]
    otherwise = reach(view.graph, graph_nodes, without=on_ctx)[of_step]
    sizes = view.graph.bytes_of_node[of_step]
    whole = int(sizes[found].sum())
    return whole > 0 and whole - int(sizes[otherwise].sum()) >= MOSTLY * whole
