"""Groups that gain members, graph nodes or bytes with every step, or gain and lose them with a period: suspects of what
accumulates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.accumulating import Grown, accumulation_points, is_cut_short, sawteeth
from tenure.analysis.growth.batch_sizes import find_batches
from tenure.analysis.growth.copied_types import copied_type, has_module_tables
from tenure.analysis.growth.filled_attributes import filled_attributes, given_to_layers
from tenure.analysis.growth.gained_optimizers import optimizer_facts
from tenure.analysis.growth.slots import are_slots
from tenure.analysis.growth.tables_of_one_owner import join_tables
from tenure.analysis.growth.training_more import (
    is_growing_model,
    is_in_step,
    is_only_used,
    is_training_more,
    trains_more,
    width_of_model,
)
from tenure.analysis.growth.trend import (
    FEWEST_POINTS,
    Trend,
    late_part,
    theil_sen,
)
from tenure.analysis.growth.unseen_growth import owners_out_of_sight
from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.groups import (
    Shapes,
    View,
    Weights,
    containers_of,
    fingerprint,
    is_bounded,
    is_tensor_bounded,
    lie_in_bounded,
    owners_of,
    series_of,
    weigh,
)
from tenure.analysis.heap.held_group import Group, without_what_is_in_use
from tenure.analysis.heap.storage_facts import pinned_bytes, storage_rows
from tenure.analysis.heap.wording import attribute_name, is_finished_frame
from tenure.analysis.sites.name_sites import GAINS_NAMES
from tenure.model.finding import rise_between_falls
from tenure.model.heap import Ints, NodeKind, ReferenceKind
from tenure.model.suspect import (
    FILLED,
    FILLED_OF,
    GRADIENTS_IN_TURN,
    GRAPH_GOES_ON,
    GROWS_WITH_MODEL,
    ON_LAYERS,
    REBUILT,
    Series,
    Suspect,
)
from tenure.parts import STRICT, Parts

_OF_TRAINING = frozenset({"PARAMETER", "GRADIENT", "OPTIMIZER_STATE"})
"""Roles of what a trainer lets go of where a model gets wider: the weights of before, and what there was for them."""


def find_growing(
    views: Sequence[View],
    shapes: Shapes,
    *,
    entries: Sequence[View] = (),
    by_element: bool = False,
    by_call: bool = False,
    parts: Parts = STRICT,
) -> tuple[tuple[Suspect, ...], frozenset[int]]:
    """Suspects of growth and sawtooth over the censuses of one moment, and the shapes they account for.

    `entries` are the censuses at forward entries, which tell what is given to the model: a batch that gets larger is
    no leak. With `by_element`, memory that swells as one element of a container stands for many, counted together.
    With `by_call` the censuses are those of one evaluation, few and some calls of the model apart: one tensor that
    gains the same with each is growth.
    """
    if len(views) < 3:
        return (), frozenset()
    weights = weigh(views, shapes)
    points = accumulation_points(views, shapes, weights, by_call=by_call)
    swelling = [point.shape for point in points if point.bytes_only]
    batches = find_batches(views, shapes, swelling, entries, weights.own_bytes)
    grown = [point for point in points if not (point.bytes_only and point.shape in batches)]

    def tell(point: Grown) -> Iterator[tuple[Grown, Suspect | None]]:
        yield point, _suspect(views, shapes, weights, point, by_element=by_element)

    told = [each for point in grown for each in parts.found(tell, point)]
    meant = [weights.members[:, point.shape] for point, suspect in told if suspect is None]
    width = width_of_model(views) if any(suspect and suspect.symptom == "growth" for _, suspect in told) else None
    lasting, others = [], []
    for point, suspect in told:
        if suspect is not None and suspect.symptom == "growth":
            suspect = _with_the_model(suspect, views, weights.members[:, point.shape], meant, width)
            lasting.append((suspect, containers_of(views[-1], views[-1].members(point.shape))))
        elif suspect is not None:
            others.append(suspect)
    return (*join_tables(views[-1], lasting), *others), frozenset(point.shape for point in grown)


def _with_the_model(
    suspect: Suspect, views: Sequence[View], members: Ints, meant: Sequence[Ints], width: Ints | None
) -> Suspect:
    """The suspect with the fact, where it comes with growth that is `meant`, layers of the model that is trained, or
    with the model's `width` and is nothing that trains it."""
    gained = members if np.ptp(members) else np.array(suspect.series.bytes)
    wider = width is not None and _OF_TRAINING.isdisjoint(suspect.bytes_by_role) and is_in_step(gained, width)
    comes_with = wider or (any(is_in_step(members, layers) for layers in meant) and trains_more(views))
    if not comes_with or suspect.through_graph:
        return suspect
    return replace(suspect, facts=suspect.facts | {GROWS_WITH_MODEL: True})


def find_growing_out_of_sight(
    views: Sequence[View], shapes: Shapes, *, told: Collection[int] = ()
) -> tuple[tuple[Suspect, ...], frozenset[int]]:
    """The same of graphs that grew until a census could not follow them to their ends: what the censuses before saw of
    them, where no later one could either; where one could, a period that all of them fit. `told` are shapes that are
    accounted for already."""
    whole = [not is_cut_short(view) for view in views]
    seen = whole.index(False) if False in whole else len(views)
    if seen == len(views) or seen < FEWEST_POINTS:
        return (), frozenset()
    watched = [view for view, is_whole in zip(views, whole, strict=True) if is_whole]
    comes_back = len(watched) > seen
    weights = weigh(watched, shapes)
    points = sawteeth(views, watched, shapes, whole) if comes_back else accumulation_points(watched, shapes, weights)
    known = {*told}
    found = []
    for point in points:
        if known.isdisjoint((point.shape, *shapes.lineage(point.shape))):
            suspect = _suspect(watched, shapes, weights, point, by_element=False)
            if suspect is not None and suspect.through_graph:
                goes_on = replace(suspect, facts=suspect.facts | {GRAPH_GOES_ON: True})
                found.append((point.shape, goes_on))
    return tuple(suspect for _, suspect in found), frozenset(shape for shape, _ in found)


def _suspect(
    views: Sequence[View], shapes: Shapes, weights: Weights, grown: Grown, *, by_element: bool
) -> Suspect | None:
    """As it is in the last census; of a sawtooth as it was at its highest, with what there is of it last: what it held
    then is gone, and a copy of the process has nothing of it to drop."""
    counts = (weights.members + weights.graph_nodes)[:, grown.shape]
    last = len(views) - 1
    if grown.trend.kind != "sawtooth":
        return _suspect_at(last, views, shapes, weights, grown, by_element=by_element)
    highest = int(counts.argmax())
    found = _suspect_at(highest, views, shapes, weights, grown, by_element=by_element)
    if found is None or highest == last or not counts[last]:
        return found
    now = _suspect_at(last, views, shapes, weights, grown, by_element=by_element)
    if now is None or not now.drops:
        return found
    return replace(found, storages=now.storages, storages_at=now.storages_at, drops=now.drops)


def _suspect_at(
    at: int, views: Sequence[View], shapes: Shapes, weights: Weights, grown: Grown, *, by_element: bool
) -> Suspect | None:
    sawtooth = grown.trend.kind == "sawtooth"
    view = views[at]
    members = view.members(grown.shape)
    nodes = without_what_is_in_use(view, view.nodes_below(shapes, grown.shape), members)
    swollen = grown.bytes_only and by_element
    containers = containers_of(view, np.unique(owners_of(view, nodes)) if swollen else members)
    places = not grown.bytes_only and are_slots(views[: at + 1], containers)
    in_bounds = places or _is_in_bounds(view, members, containers)
    if in_bounds and (sawtooth or not _is_by_the_way(view, nodes)):
        return None
    if grown.trend.since is not None and not any(view.paths.held_by_root(node) for node in members.tolist()):
        return None
    if _is_meant(view, shapes, grown.shape, members, nodes, containers):
        return None
    swelling = np.flatnonzero(view.shape == grown.shape) if grown.bytes_only else nodes[:0]
    if _fills_up(view, swelling) or lie_in_bounded(view, swelling):
        return None
    if not len(storage_rows(view, nodes)) and not any(view.paths.held_by_root(node) for node in members.tolist()):
        return None
    filled = filled_attributes(views[: at + 1], grown.shape) if at and not grown.bytes_only else None
    on_layers = None if filled or grown.bytes_only else given_to_layers(view, nodes)
    cut = filled.cut if filled else on_layers
    group = Group(view, nodes, _targets(views, shapes, at, nodes, grown), many=frozenset(containers), cut=cut)
    series = series_of(views, weights, grown.shape)
    measured = Measured(
        series=series,
        bytes_per_step=rise_between_falls(series.bytes, series.steps, grown.trend.period or 1)
        if sawtooth
        else _late_slope(series, series.bytes),
        objects_per_step=_rate(series, grown),
        period=grown.trend.period,
        copies_of="" if on_layers else copied_type(view, members, nodes),
        facts=_late_facts(series, grown.trend)
        | _name_facts(view, shapes, grown.shape, members)
        | _owner_facts(view, members)
        | ({FILLED: len(members)} if cut else {})
        | ({FILLED_OF: filled.num_objects} if filled and filled.num_objects else {})
        | ({REBUILT: True} if grown.rebuilt else {})
        | ({ON_LAYERS: True} if on_layers else {})
        | _gradient_facts(view, members)
        | optimizer_facts(view, members, nodes),
    )
    return assemble_suspect(
        group,
        symptom="sawtooth" if sawtooth else "growth",
        measured=measured,
        fingerprint=fingerprint(shapes, grown.shape),
    )


def _is_in_bounds(view: View, members: Ints, containers: Collection[int]) -> bool:
    """The members are elements of a container that keeps a bound, or parts of such elements."""
    if containers or not len(members):
        return any(is_bounded(view, container) for container in containers)
    return lie_in_bounded(view, members)


def _late_facts(series: Series, trend: Trend) -> dict[str, object]:
    """Since when a later phase grows, and in how many censuses that was seen; of members that became more but twice,
    that they did, unless their bytes went on to rise in between."""
    if trend.since is None:
        return {}
    seen = sum(step > trend.since for step in series.steps)
    swells = sum(later > before for before, later in pairwise(series.bytes)) > 2
    rises: dict[str, object] = {"rises_seen": 2} if trend.twice and not swells else {}
    return {"grows_since_step": trend.since, "censuses_while_growing": seen} | rises


def _is_by_the_way(view: View, nodes: Ints) -> bool:
    """What elements drag along that nobody keeps on purpose: autograd graphs, frames of functions that have ended, the
    rest of storages that they are small views of."""
    rows = storage_rows(view, nodes)
    if 2 * pinned_bytes(view, rows) > int(view.census.storages.bytes[rows].sum()):
        return True
    in_graph = bool(np.any(view.census.nodes.kind[nodes] == NodeKind.AUTOGRAD))
    return in_graph or any(is_finished_frame(view.graph, node) for node in nodes.tolist())


def _name_facts(view: View, shapes: Shapes, shape: int, members: Ints) -> dict[str, object]:
    """Whether the members are attributes of an object that gets another one with every step."""
    if shapes.parent[shape] not in shapes.gaining_names:
        return {}
    parents = (int(view.paths.parent[node]) for node in members.tolist())
    as_attributes = any(parent >= 0 and attribute_name(view.graph, parent) for parent in parents)
    return {GAINS_NAMES: True} if as_attributes else {}


def _gradient_facts(view: View, members: Ints) -> dict[str, object]:
    """Whether the members are all gradients of tensors."""
    parents, references = view.paths.parent[members], view.census.references
    if not len(members) or np.any(parents < 0) or np.any(references.kind[parents] != ReferenceKind.GRAD):
        return {}
    return {GRADIENTS_IN_TURN: len(members)}


def _owner_facts(view: View, members: Ints) -> dict[str, object]:
    """How many owners out of sight there are, where it is they that get more."""
    owners = owners_out_of_sight(view, members)
    return {"unseen_owners": owners} if owners > 1 else {}


def _is_meant(view: View, shapes: Shapes, shape: int, members: Ints, nodes: Ints, containers: Collection[int]) -> bool:
    """The model that is trained grows: new layers, the optimizer's entries for them, or a longer graph to them."""
    if is_training_more(view, members, containers):
        return True
    if shapes.graph[shape] >= 0 or np.any(view.census.nodes.kind[nodes] == NodeKind.AUTOGRAD):
        return shapes.graph[shape] >= 0 and is_only_used(view, members)
    are_layers = all(has_module_tables(view, node) for node in members.tolist())
    return are_layers and is_growing_model(view, members, nodes)


def _fills_up(view: View, nodes: Ints) -> bool:
    """Every tensor of these storages belongs to an object that states a bound for its rows."""
    tensors = np.unique(owners_of(view, nodes)).tolist()
    return bool(tensors) and all(is_tensor_bounded(view, tensor) for tensor in tensors)


def _targets(views: Sequence[View], shapes: Shapes, at: int, nodes: Ints, grown: Grown) -> Ints:
    """What must be freed: storages (or graph nodes, where no storage hangs below) that were there a census before.

    The newest member may still be in proper use; a cut that frees what earlier steps left is the answer.
    """
    view = views[at]
    storages = view.census.storages.node[storage_rows(view, nodes)]
    graph_nodes = nodes[view.census.nodes.kind[nodes] == NodeKind.AUTOGRAD]
    before = views[at - 1] if at else views[at]
    old_addresses = set(before.census.nodes.address[before.nodes_below(shapes, grown.shape)].tolist()) - {0}
    for choice, owners in ((storages, owners_of(view, storages)), (graph_nodes, graph_nodes)):
        if not len(choice) or grown.bytes_only:
            continue
        old = choice[np.isin(view.census.nodes.address[owners], list(old_addresses))]
        if len(old):
            return old
    for choice in (storages, graph_nodes):
        if len(choice):
            return choice
    return nodes


def _late_slope(series: Series, values: Sequence[int]) -> float:
    return theil_sen(*late_part(series.steps, values))


def _rate(series: Series, grown: Grown) -> float | None:
    """Members per step; of a sawtooth between its falls."""
    if grown.trend.kind == "growing":
        return None if grown.bytes_only else _late_slope(series, series.objects) or None
    return rise_between_falls(series.objects, series.steps, grown.trend.period or 1)
