"""Several tables of one library object, or of the same ones, that grow together: one call of the program fills them,
and one empties them.

What lies in two of them is freed by neither alone: a model that an object keeps beside its optimizer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from tenure.analysis.growth.gained_optimizers import ONLY_IN_OPTIMIZERS
from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import GRAPH_REFERENCES, Graph, object_of, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import Droppable, is_element
from tenure.analysis.heap.optimizers import optimizer_nodes
from tenure.analysis.heap.storage_facts import identities
from tenure.analysis.heap.wording import attribute_name
from tenure.model.experiment import all_drops
from tenure.model.suspect import Suspect


def join_tables(view: View, found: Sequence[tuple[Suspect, Collection[int]]]) -> tuple[Suspect, ...]:
    """The suspects of growth, each found with the containers that gain elements in the last census `view`; those whose
    containers are attributes of the same library objects as one, with all that emptying them together frees.

    Told as the heaviest. A search of the census for each such group.
    """
    tables: dict[frozenset[int], list[int]] = {}
    for at, (_, containers) in enumerate(found):
        tables.setdefault(_library_owners(view, containers) or frozenset((-1 - at,)), []).append(at)
    joined = [
        _joined(view, [found[at] for at in group]) if len(group) > 1 else found[group[0]][0]
        for group in tables.values()
    ]
    return tuple(joined)


def _library_owners(view: View, containers: Collection[int]) -> frozenset[int]:
    """The objects of libraries that have the containers as attributes, one each; none where it is otherwise."""
    owners = [_owners_of(view.graph, container) for container in containers]
    return frozenset().union(*owners) if all(len(each) == 1 for each in owners) else frozenset()


def _owners_of(graph: Graph, container: int) -> frozenset[int]:
    """The objects that have a container as an attribute, where all of them are a library's."""
    sources = graph.census.references.source
    named = [reference for reference in graph.references_to(container) if attribute_name(graph, reference)]
    owners = frozenset(object_of(graph, int(sources[reference])) for reference in named)
    return owners if all(graph.library[owner] for owner in owners) else frozenset()


def _joined(view: View, group: Sequence[tuple[Suspect, Collection[int]]]) -> Suspect:
    graph = view.graph
    suspects = sorted((suspect for suspect, _ in group), key=lambda each: (-each.retained_bytes, each.fingerprint))
    elements = (
        Droppable(next(r for r in graph.references_from(container) if is_element(graph, r)), container)
        for _, containers in group
        for container in containers
    )
    emptied = tuple(elements)
    freed, main = freed_storages(graph, emptied), suspects[0]
    optimizers = _optimizers_in(graph, emptied)
    rates = [each.growth_bytes_per_step for each in suspects if each.growth_bytes_per_step is not None]
    return replace(
        main,
        cut=tuple(dict.fromkeys(reference for each in suspects for reference in each.cut)),
        retained_bytes=int(graph.bytes_of_node[freed].sum()),
        series=replace(main.series, bytes=tuple(map(sum, zip(*(each.series.bytes for each in suspects), strict=True)))),
        growth_bytes_per_step=sum(rates) if rates else None,
        facts=main.facts | ({ONLY_IN_OPTIMIZERS: optimizers} if optimizers > 1 else {}),
        storages=identities(view, freed),
        drops=all_drops(suspects),
    )


def _optimizers_in(graph: Graph, emptied: Sequence[Droppable]) -> int:
    """How many optimizers the elements of some containers lead to."""
    containers = np.array([dropped.container for dropped in emptied])
    below = reach(graph, containers, without=np.isin(graph.census.references.kind, GRAPH_REFERENCES))
    return int(np.count_nonzero(below[optimizer_nodes(graph)]))
