"""What a library's object notes in a table of its own: `accelerator._models`, to which `prepare` appends."""

from __future__ import annotations

import numpy as np

from tenure.analysis.heap.graph import ELEMENT_REFERENCES, Bools, Graph, instance_of
from tenure.analysis.heap.wording import attribute_name


def elements_of_library_tables(graph: Graph) -> Bools:
    """Per reference: an element of a container that a library's object has as an attribute."""
    references = graph.census.references
    elements = np.isin(references.kind, ELEMENT_REFERENCES)
    tables = {
        int(references.target[reference])
        for reference in np.flatnonzero(np.isin(references.target, np.unique(references.source[elements]))).tolist()
        if attribute_name(graph, reference) and graph.library[instance_of(graph, int(references.source[reference]))]
    }
    return np.asarray(elements & np.isin(references.source, sorted(tables)), dtype=bool)
