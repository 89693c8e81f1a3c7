"""From a group of nodes in one census to a suspect: path, holder, cut, and what dropping the cut would free."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from tenure.analysis.heap.chain_entries import chain_entries
from tenure.analysis.heap.chosen_holder import Chosen, choose_holder, is_of_library
from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import Graph, own_references, unquoted
from tenure.analysis.heap.groups import View, fingerprint_of
from tenure.analysis.heap.held_group import Group, heaviest
from tenure.analysis.heap.holders import Droppable, holding_reference
from tenure.analysis.heap.library_slots import slot_facts
from tenure.analysis.heap.path_facts import path_facts
from tenure.analysis.heap.shared_graphs import also_kept_by
from tenure.analysis.heap.storage_facts import (
    bytes_by_role,
    identities,
    is_graph_freed,
    is_scalar,
    main_device,
    pinned_bytes,
    storage_rows,
)
from tenure.analysis.heap.wording import hops, owner_text, render_path, render_targets
from tenure.model.experiment import Drop
from tenure.model.finding import Symptom
from tenure.model.heap import GRAPH_CONTINUES, Ints, NodeKind, ReferenceKind
from tenure.model.suspect import ALSO_KEPT_BY, GRAPH_GOES_ON, HoldingReference, Series, Suspect


@dataclass(frozen=True)
class Measured:
    """What was measured of a group over time."""

    series: Series
    bytes_per_step: float | None = None
    objects_per_step: float | None = None
    period: int | None = None
    copies_of: str = ""
    facts: dict[str, object] = field(default_factory=dict)


def told_by_holder(suspect: Suspect) -> Suspect:
    """The suspect with a fingerprint that tells who holds it, where the one it has says only what is held: of two of a
    kind a baseline knows which one is new."""
    return replace(suspect, fingerprint=fingerprint_of(f"{suspect.fingerprint} {suspect.holder.expression}"))


def assemble_suspect(group: Group, *, symptom: Symptom, measured: Measured, fingerprint: str) -> Suspect:
    """The suspect, its key still 0. Costs a cut and two searches of the census."""
    view, graph, series = group.view, group.view.graph, measured.series
    collects = symptom in ("growth", "sawtooth")
    chosen = choose_holder(group, collects=collects)
    path, held_by = chosen.path, chosen.held_by
    holder = chosen.made_by_call or _described(group, chosen)
    rows = storage_rows(view, group.nodes)
    graph_nodes = group.nodes[view.census.nodes.kind[group.nodes] == NodeKind.AUTOGRAD]
    freed = _freed(group, chosen)
    steps = [step for step, seen in _present(series) if seen] or [view.census.step]
    in_slot = slot_facts(view, held_by, group.nodes) if collects else {}
    through_graph = any(view.census.references.kind[r] == ReferenceKind.GRAD_FN for r in path)
    one_state = collects and through_graph and not holder.element
    others = also_kept_by(view, graph_nodes, chosen.cut) if collects and through_graph and chosen.cut else ""
    return Suspect(
        key=0,
        symptom=symptom,
        path=hops(graph, path),
        path_text=render_path(graph, path),
        path_targets=render_targets(graph, path),
        holder=holder,
        cut=_cut_in_words(group, chosen) or (holder,),
        retained_bytes=int(graph.bytes_of_node[freed].sum()),
        num_objects=series.objects[-1] if symptom == "growth" else max(series.objects[-1], len(rows)),
        num_graph_nodes=len(graph_nodes),
        device=main_device(view.census, rows),
        bytes_by_role=bytes_by_role(view, rows),
        first_step=steps[0],
        last_step=max(steps),
        series=series,
        growth_bytes_per_step=measured.bytes_per_step,
        growth_objects_per_step=measured.objects_per_step,
        fingerprint=fingerprint,
        scalars=bool(len(rows)) and all(is_scalar(view, row) for row in rows.tolist()),
        pinned_bytes=pinned_bytes(view, rows),
        through_graph=through_graph,
        graph_freed=is_graph_freed(view, graph_nodes),
        copies_of=measured.copies_of,
        period_steps=measured.period,
        holder_is_yours=held_by is None or not is_of_library(view, held_by),
        facts=measured.facts
        | path_facts(view, path, graph_nodes, group.many)
        | _chain_facts(view, held_by)
        | in_slot
        | ({ALSO_KEPT_BY: others} if others else {})
        | ({GRAPH_GOES_ON: True} if _goes_on(view, graph_nodes) else {}),
        storages=identities(view, freed),
        storages_at=view.census.step,
        chain_entries=chain_entries(view, graph_nodes) if one_state else (),
        drops=drops_of(graph, chosen.cut or ((held_by,) if held_by else ())),
    )


def _goes_on(view: View, graph_nodes: Ints) -> bool:
    return bool(np.any((view.census.nodes.flags[graph_nodes] & GRAPH_CONTINUES) != 0))


def _described(group: Group, chosen: Chosen) -> HoldingReference:
    """The holder in words; where no reference can be dropped, what owns the start of the path."""
    view, path = group.view, chosen.path
    holder = describe_reference(view, chosen.held_by, group.many)
    if holder.name:
        return holder
    name = owner_text(view.graph, int(view.census.references.source[path[0]]) if path else heaviest(group))
    return HoldingReference(kind="unknown", name=name, expression=name)


def _cut_in_words(group: Group, chosen: Chosen) -> tuple[HoldingReference, ...]:
    if chosen.made_by_call:
        return ()
    return tuple(describe_reference(group.view, dropped, group.many) for dropped in chosen.cut)


def _freed(group: Group, chosen: Chosen) -> Ints:
    """The storages that go with the cut."""
    if group.freed is not None:
        return group.freed
    if chosen.cut and not chosen.by_gradient:
        return freed_storages(group.view.graph, chosen.cut)
    return group.view.census.storages.node[storage_rows(group.view, group.nodes)]


def drops_of(graph: Graph, cut: Iterable[Droppable]) -> tuple[Drop, ...]:
    """The references of a cut by the addresses of what they connect, so that they are found in the same process."""
    references, addresses = graph.census.references, graph.census.nodes.address
    drops = []
    for dropped in cut:
        whole = dropped.container >= 0
        source = dropped.container if whole else int(references.source[dropped.reference])
        drops.append(
            Drop(
                source=int(addresses[source]),
                source_type=graph.type_names[source],
                kind=ReferenceKind(int(references.kind[dropped.reference])).name,
                label=unquoted(graph.labels[dropped.reference]),
                target=0 if whole else int(addresses[references.target[dropped.reference]]),
                whole=whole,
            )
        )
    return tuple(drops)


def describe_reference(view: View, dropped: Droppable | None, many: Collection[int]) -> HoldingReference:
    """A droppable reference in words; of kind unknown where there is none."""
    if dropped is None:
        return HoldingReference(kind="unknown", name="", expression="")
    return holding_reference(view.graph, view.paths, dropped, many=many)


def _chain_facts(view: View, held_by: Droppable | None) -> dict[str, object]:
    """`chain_of`: the type of the objects each of which refers to the next by the same name as the holder."""
    if held_by is None or held_by.container >= 0:
        return {}
    graph, references = view.graph, view.census.references
    owner, label = int(references.target[held_by.reference]), graph.labels[held_by.reference]
    nexts = [int(references.target[r]) for r in own_references(graph, owner) if graph.labels[r] == label]
    types = {graph.type_names[node] for node in nexts}
    return {"chain_of": graph.type_names[owner]} if types == {graph.type_names[owner]} else {}


def _present(series: Series) -> list[tuple[int, bool]]:
    rows = zip(series.steps, series.bytes, series.objects, series.graph_nodes, strict=True)
    return [(step, bool(num_bytes or objects or nodes)) for step, num_bytes, objects, nodes in rows]
