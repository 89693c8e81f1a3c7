"""Functions of the program that stand in a library's module, each of which keeps the one it was put for."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.graph import Graph, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import Droppable
from tenure.model.heap import Ints, NodeKind, ReferenceKind

STANDS_IN = "stands_in"
"""Name of the fact: the library's name that leads to the functions, `warnings.showwarning`."""
MOSTLY = 0.8
"""Share of the bytes that the function which stands there must lead to."""
_FUNCTIONS = ("function", "method", "functools.partial")


def slot_facts(view: View, held_by: Droppable | None, nodes: Ints) -> dict[str, object]:
    """`stands_in`: the global of a library by which a function of the program leads to `nodes`, where `held_by` refers
    to a function too: a former one, whatever else may lead to it. Costs a search per such global."""
    graph = view.graph
    if held_by is None or held_by.container >= 0 or not _is_function(graph, _behind_cell(graph, held_by.reference)):
        return {}
    sizes = graph.bytes_of_node[nodes]
    for reference in _own_functions_in_libraries(graph):
        below = reach(graph, view.census.references.target[[reference]])
        if int(sizes[below[nodes]].sum()) >= MOSTLY * int(sizes.sum()) > 0:
            source = int(view.census.references.source[reference])
            return {STANDS_IN: f"{view.census.text(int(view.census.nodes.name[source]))}.{graph.labels[reference]}"}
    return {}


def _own_functions_in_libraries(graph: Graph) -> list[int]:
    references, kinds = graph.census.references, graph.census.nodes.kind
    of_library = (kinds[references.source] == NodeKind.NAMESPACE) & graph.library[references.source]
    found = np.flatnonzero((references.kind == ReferenceKind.GLOBAL) & of_library).tolist()
    return [r for r in found if _is_own_function(graph, int(references.target[r]))]


def _is_own_function(graph: Graph, node: int) -> bool:
    """A function written by the program, or one bound to, or a partial with, something of its own."""
    targets = [int(graph.census.references.target[r]) for r in graph.references_from(node)]
    own = not graph.library[node] or any(not graph.library[target] for target in targets)
    return _is_function(graph, node) and own


def _is_function(graph: Graph, node: int) -> bool:
    return graph.type_names[node] in _FUNCTIONS


def _behind_cell(graph: Graph, reference: int) -> int:
    """What a reference leads to; of a closure's variable what is in its cell."""
    node = int(graph.census.references.target[reference])
    contents = (r for r in graph.references_from(node) if graph.census.references.kind[r] == ReferenceKind.CONTENTS)
    return next((int(graph.census.references.target[r]) for r in contents), node)
