"""Which function a table of hooks calls: what its registration is found by in the sources."""

from __future__ import annotations

from collections import Counter

from tenure.analysis.heap.graph import Graph, called_by, is_builtin_type
from tenure.model.heap import ReferenceKind

_TABLE_OF_TENSOR = "collections.OrderedDict"
"""A tensor's own hooks lie in one, under the numbers of their handles."""


def called_by_hooks(graph: Graph, node: int) -> str:
    """Qualified name of the function that most entries of a table call, or that a hook itself calls; "" unknown."""
    references = graph.census.references
    if not (graph.hook_tables[node] or graph.type_names[node] == _TABLE_OF_TENSOR):
        return _function_name(graph, node)
    entries = (r for r in graph.references_from(node) if references.kind[r] == ReferenceKind.ITEM)
    names = Counter(_function_name(graph, int(references.target[r])) for r in entries)
    return max(names, key=lambda name: (bool(name), names[name], name), default="")


def _function_name(graph: Graph, function: int) -> str:
    """The innermost name of what wrappers and partials call; a bound method has its function's own, an object that is
    called itself its class's."""
    text, name_of = graph.census.text, graph.census.nodes.name
    called = (function, *called_by(graph, function))
    named = next((text(int(name_of[node])) for node in called if name_of[node] >= 0), "")
    type_name = graph.type_names[function]
    return named or ("" if is_builtin_type(type_name) else type_name.rpartition(".")[2])
