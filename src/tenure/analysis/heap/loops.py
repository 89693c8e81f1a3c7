"""What a running `for` loop goes through, and what a `with` statement will leave: the interpreter keeps both on its
evaluation stack, where no walk comes."""

from __future__ import annotations

import re

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph, of_types
from tenure.model.heap import ITERATOR

_LOOPED_OVER = re.compile(r"iter|generator|^(enumerate|zip|map|filter|reversed|tqdm.*)$", re.IGNORECASE)
"""Names of types, in recordings that do not say which objects are iterators."""
_EXITS = (".__exit__", ".__aexit__")
_MANAGERS = ("contextlib._GeneratorContextManager", "contextlib._AsyncGeneratorContextManager")


def iterators(graph: Graph) -> Bools:
    """Per node: an object that a loop may go through, by its type. One that nobody owns is a running loop's: what else
    has iterators is seen by the collector."""
    return np.asarray(((graph.census.nodes.flags & ITERATOR) != 0) | of_types(graph, _is_named_so), dtype=bool)


def is_on_stack(graph: Graph, node: int) -> bool:
    """Whether what nobody owns is such a loop's or block's."""
    return is_iterator(graph, node) or is_exit(graph, node)


def exits(graph: Graph) -> Bools:
    """Per node: the `__exit__` of a context manager, or what `contextlib` makes of a generator, which is its own from
    Python 3.14 on. One that nobody owns is that of a `with` statement whose block runs."""
    names = [at for at, text in enumerate(graph.census.strings) if text.endswith(_EXITS)]
    methods = of_types(graph, "method".__eq__) & np.isin(graph.census.nodes.name, names)
    return np.asarray(methods | of_types(graph, _MANAGERS.__contains__), dtype=bool)


def is_exit(graph: Graph, node: int) -> bool:
    """The same for one node."""
    name = graph.type_names[node]
    return name in _MANAGERS or (
        name == "method" and graph.census.text(int(graph.census.nodes.name[node])).endswith(_EXITS)
    )


def is_iterator(graph: Graph, node: int) -> bool:
    """The same for one node."""
    return bool(graph.census.nodes.flags[node] & ITERATOR) or _is_named_so(graph.type_names[node])


def _is_named_so(type_name: str) -> bool:
    return bool(_LOOPED_OVER.search(type_name.rpartition(".")[2]))
