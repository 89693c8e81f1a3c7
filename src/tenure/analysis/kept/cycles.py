"""Rings that nothing alive leads to, census after census: memory that waits for the cyclic collector."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import drops_of
from tenure.analysis.heap.graph import Bools, Graph, object_of, reach
from tenure.analysis.heap.groups import View, fingerprint_of
from tenure.analysis.heap.holders import Droppable, gradient_reference, gradients_with_graph, ring_reference
from tenure.analysis.heap.islands import Island, find_islands
from tenure.analysis.heap.packed_by_hooks import pack_hook_reference
from tenure.analysis.heap.storage_facts import bytes_by_role, identities, is_scalar, main_device, storage_rows
from tenure.analysis.heap.wording import attribute_name, hops, is_merged, render_path
from tenure.model.heap import Ints, NodeKind
from tenure.model.suspect import OWN_HOOK, Series, Suspect

FEWEST_CENSUSES = 2
"""A ring that is seen once may be an accident of start-up."""
SINGLE_RING_BYTES = 1 << 20
SINGLE_RING_SHARE = 0.01
"""One and the same ring in all censuses is left over from one event; it must hold so much, and this share of all."""

UPPER = 0.75
"""The rate of new rings is this quantile: collections only lower what is seen of it."""
EACH_OF_STEPS = 3
"""So many steps with a new ring each are no turn that kinds of rings take."""


def find_cycles(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "cycle": rings of the same types that hold storages in several censuses."""
    per_view = [_by_signature(find_islands(view.graph)) for view in views]
    signatures = sorted({signature for found in per_view for signature in found})
    suspects = []
    for signature in signatures:
        seen = [at for at, found in enumerate(per_view) if _storages(found.get(signature, ())).size]
        if len(seen) >= FEWEST_CENSUSES and _matters(views, per_view, seen, signature):
            suspects.append(_suspect(views, [found.get(signature, ()) for found in per_view], seen, signature))
    return tuple(suspects)


def below_rings(graph: Graph) -> Bools:
    """Per node: a ring that nothing alive leads to holds it, others perhaps too."""
    rings = [island.members for island in find_islands(graph)]
    return reach(graph, np.concatenate(rings)) if rings else np.zeros(graph.size, dtype=bool)


def _by_signature(islands: tuple[Island, ...]) -> dict[str, tuple[Island, ...]]:
    found: dict[str, list[Island]] = {}
    for island in islands:
        found.setdefault(island.signature, []).append(island)
    return {signature: tuple(alike) for signature, alike in found.items()}


def _matters(
    views: Sequence[View], per_view: Sequence[dict[str, tuple[Island, ...]]], seen: Sequence[int], signature: str
) -> bool:
    """New rings keep coming, or a single one is large."""
    if len({_known_by(views[at], island) for at in seen for island in per_view[at][signature]}) > 1:
        return True
    view = views[seen[-1]]
    size = int(view.graph.bytes_of_node[_storages(per_view[seen[-1]][signature])].sum())
    return size >= max(SINGLE_RING_BYTES, SINGLE_RING_SHARE * int(view.census.storages.bytes.sum()))


def _storages(islands: Sequence[Island]) -> Ints:
    parts = [island.storages for island in islands]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def _suspect(
    views: Sequence[View], per_view: Sequence[tuple[Island, ...]], seen: Sequence[int], signature: str
) -> Suspect:
    sizes = [int(view.graph.bytes_of_node[_storages(found)].sum()) for view, found in zip(views, per_view, strict=True)]
    at = max(seen, key=lambda position: (sizes[position], position))
    last = seen[-1]  # experiments are made on what is left there: a collection just before leaves few rings
    view, islands = views[at], per_view[at]
    graph = view.graph
    island = max(islands, key=lambda each: (int(graph.bytes_of_node[each.storages].sum()), -int(each.members[0])))
    rows = storage_rows(view, _storages(islands))
    packed = pack_hook_reference(graph, island.ring)
    gradient = gradient_reference(graph, (*island.ring, *island.ring))
    made_by_call = gradient or packed
    holder = made_by_call or ring_reference(graph, island.cut)
    others = () if made_by_call else tuple(ring_reference(graph, other) for other in island.others)
    start = next((i for i, r in enumerate(island.ring) if not is_merged(graph, r)), 0)
    ring = (*island.ring[start:], *island.ring[:start])
    return Suspect(
        key=0,
        symptom="cycle",
        path=hops(graph, ring),
        path_text=tuple(text for text in _ring_text(view, ring)),
        holder=holder,
        cut=tuple(dict.fromkeys((holder, *others))),
        retained_bytes=sizes[at],
        num_objects=len(rows),
        num_graph_nodes=sum(each.num_graph_nodes for each in islands),
        device=main_device(view.census, rows),
        bytes_by_role=bytes_by_role(view, rows),
        first_step=views[seen[0]].census.step,
        last_step=views[seen[-1]].census.step,
        series=Series(
            moment=view.census.moment,
            steps=tuple(each.census.step for each in views),
            bytes=tuple(sizes),
            objects=tuple(len(found) for found in per_view),
            graph_nodes=tuple(sum(each.num_graph_nodes for each in found) for found in per_view),
        ),
        growth_bytes_per_step=_rate(views, per_view, sizes),
        growth_objects_per_step=None,
        fingerprint=fingerprint_of(f"ring {signature} {holder.name}"),
        scalars=all(is_scalar(view, row) for row in rows.tolist()),
        pinned_bytes=0,
        cyclic=True,
        holder_is_yours=not bool(graph.library[int(view.census.references.source[island.cut])]),
        facts=_facts(view, island, len(islands)) | ({"packed_as_it_is": True} if packed else {}),
        storages=identities(views[last], _storages(per_view[last])),
        storages_at=views[last].census.step,
        drops=drops_of(views[last].graph, _droppable(views[last].graph, per_view[last], gradient is not None)),
    )


def _droppable(graph: Graph, islands: Sequence[Island], by_gradients: bool) -> tuple[Droppable, ...]:
    """What opens all of the rings: their gradients where a ring goes by one, for nobody can drop a graph's edges."""
    gradients = gradients_with_graph(graph, np.concatenate([each.members for each in islands])) if by_gradients else ()
    return gradients or tuple(Droppable(cut) for each in islands for cut in each.cuts.tolist())


def _known_by(view: View, island: Island) -> int:
    """The number of one of its storages: where a ring lay the next one may lie."""
    rows = storage_rows(view, island.storages)
    identities = view.census.storage_identities[rows] if len(rows) else view.census.nodes.address[island.members]
    return int(identities.min())


def _rate(views: Sequence[View], per_view: Sequence[tuple[Island, ...]], sizes: Sequence[int]) -> float | None:
    """Bytes that new rings add per step between censuses none of whose rings was collected; None where the collector
    was always faster, or no ring was new.

    The upper quartile over the steps between censuses that brought new ones, for a collection may have taken some of
    those and never adds any, times the share of such steps: rings that differ take turns, and what each kind adds is
    summed. Where several steps on end brought one each, all do, and a collection took what others brought: a ring that
    it met before outlives it.
    """
    rings = [{_known_by(view, island) for island in found} for view, found in zip(views, per_view, strict=True)]
    with_new: list[float] = []
    covered, brought_by_each = 0, False
    for before, after in pairwise(range(len(views))):
        steps = views[after].census.step - views[before].census.step
        if steps > 0 and rings[after] and rings[before] <= rings[after]:
            covered += steps
            gained = rings[before] < rings[after]
            with_new += [(sizes[after] - sizes[before]) / steps] * steps if gained else []
            brought_by_each |= len(rings[after]) - len(rings[before]) >= steps >= EACH_OF_STEPS
    if not with_new:
        return None
    share = 1.0 if brought_by_each else len(with_new) / covered
    return float(np.quantile(with_new, UPPER, method="higher")) * share


def _ring_text(view: View, ring: tuple[int, ...]) -> tuple[str, ...]:
    texts = render_path(view.graph, ring)
    owner = view.graph.type_names[object_of(view.graph, int(view.census.references.source[ring[0]]))].rpartition(".")[2]
    return (f"a ring that nothing else holds: {owner}", *texts[1:])


def _facts(view: View, island: Island, num_rings: int) -> dict[str, object]:
    facts: dict[str, object] = {"rings": num_rings, "types": island.signature}
    owner = object_of(view.graph, int(view.census.references.source[island.cut]))
    if view.census.nodes.kind[owner] == NodeKind.AUTOGRAD and attribute_name(view.graph, island.cut):
        facts["ctx_type"] = view.graph.type_names[owner]
        facts["ctx_attribute"] = view.graph.labels[island.cut].strip("'\"")
    if island.through_cpp:
        facts["owned_by_cpp_too"] = True
    if island.through_own_hook:
        facts[OWN_HOOK] = True
    return facts
