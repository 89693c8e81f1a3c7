"""What a running `for` loop goes through: the interpreter keeps it on its evaluation stack, where no walk comes."""

from __future__ import annotations

import re

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph, of_types
from tenure.model.heap import ITERATOR

_LOOPED_OVER = re.compile(r"iter|generator|^(enumerate|zip|map|filter|reversed|tqdm.*)$", re.IGNORECASE)
"""Names of types, in recordings that do not say which objects are iterators."""


def iterators(graph: Graph) -> Bools:
    """Per node: an object that a loop may go through, by its type. One that nobody owns is a running loop's: what else
    has iterators is seen by the collector."""
    return np.asarray(((graph.census.nodes.flags & ITERATOR) != 0) | of_types(graph, _is_named_so), dtype=bool)


def is_iterator(graph: Graph, node: int) -> bool:
    """The same for one node."""
    return bool(graph.census.nodes.flags[node] & ITERATOR) or _is_named_so(graph.type_names[node])


def _is_named_so(type_name: str) -> bool:
    return bool(_LOOPED_OVER.search(type_name.rpartition(".")[2]))
