"""What a running `for` loop goes through: the interpreter keeps it on its evaluation stack, where no walk comes."""

from __future__ import annotations

import re

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph
from tenure.model.heap import ITERATOR

_LOOPED_OVER = re.compile(r"iter|generator|^(enumerate|zip|map|filter|reversed|tqdm.*)$", re.IGNORECASE)
"""Names of types, in recordings that do not say which objects are iterators."""


def iterators(graph: Graph) -> Bools:
    """Per node: an object that a loop may go through, by its type. One that nobody owns is a running loop's: what else
    has iterators is seen by the collector."""
    nodes = graph.census.nodes
    named = np.array([bool(_LOOPED_OVER.search(text.rpartition(".")[2])) for text in (*graph.census.strings, "")])
    return np.asarray(((nodes.flags & ITERATOR) != 0) | named[nodes.type], dtype=bool)


def is_iterator(graph: Graph, node: int) -> bool:
    """The same for one node."""
    flagged = bool(graph.census.nodes.flags[node] & ITERATOR)
    return flagged or bool(_LOOPED_OVER.search(graph.type_names[node].rpartition(".")[2]))
