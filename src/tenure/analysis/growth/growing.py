"""Groups that gain members, graph nodes or bytes with every step, or gain and lose them with a period."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.batch_sizes import find_batches
from tenure.analysis.growth.copied_types import copied_type, has_module_tables
from tenure.analysis.growth.filled_attributes import filled_attributes, given_to_layers
from tenure.analysis.growth.gained_optimizers import optimizer_facts
from tenure.analysis.growth.rebuilt import is_rebuilt
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
    WARM_UP_STEP,
    Trend,
    find_period_in_part,
    find_trend,
    is_exact_line,
    is_steady,
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
from tenure.model.heap import GRAPH_CONTINUES, Ints, NodeKind, ReferenceKind
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

KEPT_SHARE = 0.6
"""Share of an earlier census's members that must still be there: else it is turnover that happens to rise."""
KEPT_SHARE_OF_FEW = 0.9
FEW_POINTS = 4
_OF_TRAINING = frozenset({"PARAMETER", "GRADIENT", "OPTIMIZER_STATE"})
"""Roles of what a trainer lets go of where a model gets wider: the weights of before, and what there was for them."""


@dataclass(frozen=True)
class Grown:
    """A shape at which something accumulates."""

    shape: int
    trend: Trend
    bytes_only: bool = False
    rebuilt: bool = False
    """No member stays: all are made anew, and become more."""


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
    points = _accumulation_points(views, shapes, weights, by_call=by_call)
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
    whole = [not _is_cut_short(view) for view in views]
    seen = whole.index(False) if False in whole else len(views)
    if seen == len(views) or seen < FEWEST_POINTS:
        return (), frozenset()
    watched = [view for view, is_whole in zip(views, whole, strict=True) if is_whole]
    comes_back = len(watched) > seen
    weights = weigh(watched, shapes)
    points = _sawteeth(views, watched, shapes, whole) if comes_back else _accumulation_points(watched, shapes, weights)
    known = {*told}
    found = []
    for point in points:
        if known.isdisjoint((point.shape, *shapes.lineage(point.shape))):
            suspect = _suspect(watched, shapes, weights, point, by_element=False)
            if suspect is not None and suspect.through_graph:
                goes_on = replace(suspect, facts=suspect.facts | {GRAPH_GOES_ON: True})
                found.append((point.shape, goes_on))
    return tuple(suspect for _, suspect in found), frozenset(shape for shape, _ in found)


def _sawteeth(views: Sequence[View], seen_whole: Sequence[View], shapes: Shapes, whole: Sequence[bool]) -> list[Grown]:
    """The topmost shapes whose graph nodes rise and fall with a period, where some censuses saw a part of them only."""
    weights = weigh(views, shapes)
    steps = [view.census.step for view in views]
    found: dict[int, Grown] = {}
    counts = weights.members + weights.graph_nodes
    for shape in np.flatnonzero(weights.graph_nodes.max(axis=0) != weights.graph_nodes.min(axis=0)).tolist():
        if any(above in found for above in shapes.lineage(shape)):
            continue
        period = find_period_in_part(steps, counts[:, shape].tolist(), whole)
        trend = Trend("sawtooth", period=period)
        if period and _members_stay(seen_whole, shape, counts[list(whole), shape], trend):
            found[shape] = Grown(shape, trend)
    return list(found.values())


def _falls_out_of_sight(views: Sequence[View], counts: Ints) -> bool:
    """It falls, and only where a census could not follow some graphs to their ends: they may have what is missing."""
    falls = np.flatnonzero(np.diff(counts) < 0) + 1
    return bool(len(falls)) and all(_is_cut_short(views[at]) for at in falls.tolist())


def _is_cut_short(view: View) -> bool:
    """Whether some graph goes on out of sight."""
    nodes = view.census.nodes
    return bool(np.any((nodes.kind == NodeKind.AUTOGRAD) & ((nodes.flags & GRAPH_CONTINUES) != 0)))


def _accumulation_points(
    views: Sequence[View], shapes: Shapes, weights: Weights, *, by_call: bool = False
) -> list[Grown]:
    """The topmost shapes that gain members while the shape above does not; then single storages that swell."""
    steps = [view.census.step for view in views]
    counts = weights.members + weights.graph_nodes
    found: dict[int, Grown] = {}
    rebuilt: list[Grown] = []
    for shape in np.flatnonzero(counts.max(axis=0) != counts.min(axis=0)).tolist():
        if any(above in found for above in shapes.lineage(shape)):
            continue
        trend = find_trend(steps, counts[:, shape].tolist())
        plain = trend.kind == "growing" and not weights.graph_nodes[-1, shape]
        if trend.kind == "flat" or (plain and _were_all_there(views, shape)) or _are_hook_tables(views[-1], shape):
            continue
        of_graph = shapes.graph[shape] >= 0 or weights.graph_nodes[:, shape].any()
        if of_graph and _falls_out_of_sight(views, counts[:, shape]):
            continue
        if _members_stay(views, shape, counts[:, shape], trend):
            found[shape] = Grown(shape, trend)
        elif plain and is_rebuilt(views, shape, counts[:, shape].tolist()):
            rebuilt.append(Grown(shape, trend, rebuilt=True))
    found |= {point.shape: point for point in _not_copied(rebuilt, found, shapes, counts)}
    for shape in np.flatnonzero(weights.own_bytes.max(axis=0) != weights.own_bytes.min(axis=0)).tolist():
        values, counts_there = weights.own_bytes[:, shape].tolist(), weights.own_storages[:, shape].tolist()
        swells = is_steady(steps, values) or (by_call and set(counts_there) == {1} and is_exact_line(steps, values))
        if any(above in found for above in (shape, *shapes.lineage(shape))) or not swells:
            continue
        if shapes.graph[shape] >= 0:  # as many nodes and tensors as before, of a step that works on more
            continue
        trend = find_trend(steps, values)
        if trend.kind == "growing" and not _are_made_anew(views, shape, counts_there, values):
            found[shape] = Grown(shape, trend, bytes_only=True)
    return list(found.values())


def _not_copied(rebuilt: Sequence[Grown], found: Collection[int], shapes: Shapes, counts: Ints) -> Iterator[Grown]:
    """The topmost of those whose members are made anew, but for copies of others that stay and become as many."""
    told = {counts[:, shape].tobytes() for shape in found}
    taken = set(found)
    for point in rebuilt:
        if taken.isdisjoint(shapes.lineage(point.shape)) and counts[:, point.shape].tobytes() not in told:
            taken.add(point.shape)
            yield point


def _were_all_there(views: Sequence[View], shape: int) -> bool:
    """The last census's members lived in the first one: they lost another name, under which they were counted."""
    first, last = views[0], views[-1]
    then = dict(zip(first.census.nodes.address.tolist(), first.graph.type_names, strict=True))
    members = last.members(shape).tolist()
    return all(then.get(int(last.census.nodes.address[node])) == last.graph.type_names[node] for node in members)


def _are_hook_tables(view: View, shape: int) -> bool:
    """Every module has its tables of hooks from the start, and one more of them in a census had its first hook: it is
    the hooks that accumulate."""
    members = view.members(shape)
    return bool(len(members)) and bool(view.graph.hook_tables[members].all())


def _are_made_anew(views: Sequence[View], shape: int, counts: Sequence[int], values: Sequence[int]) -> bool:
    """Ever more storages, none larger, of which most were not there a census before: a copy of a growing model."""
    seen = [(view, count, size) for view, count, size in zip(views, counts, values, strict=True) if count]
    means = [size // count for _, count, size in seen]
    if len({count for _, count, _ in seen}) == 1 or is_steady([view.census.step for view, _, _ in seen], means):
        return False
    rising = [(before, after) for (before, first, _), (after, second, _) in pairwise(seen) if second > first]
    stayed = sum(_most_stay(_storages_at(before, shape), _storages_at(after, shape)) for before, after in rising)
    return 2 * stayed <= len(rising)


def _storages_at(view: View, shape: int) -> set[int]:
    storages = view.census.storages
    return set(view.census.storage_identities[view.shape[storages.node] == shape].tolist())


def _most_stay(before: set[int], after: set[int], share: float = KEPT_SHARE) -> bool:
    return len(before & after) >= share * len(before)


def _members_stay(views: Sequence[View], shape: int, counts: Ints, trend: Trend) -> bool:
    """What was there in one census is there in the next, unless the period ended between them."""
    steps = [view.census.step for view in views]
    late = sum(step > max(WARM_UP_STEP, trend.since or 0) for step in steps)
    share = KEPT_SHARE_OF_FEW if late <= FEW_POINTS else KEPT_SHARE
    kept = []
    for (before, after), (first, second) in zip(pairwise(views), pairwise(counts.tolist()), strict=True):
        apart = after.census.step - before.census.step
        if first == 0 or second <= first or (trend.period is not None and apart >= trend.period):
            continue
        kept.append(_most_stay(before.addresses(shape), after.addresses(shape), share))
    if trend.kind == "sawtooth":
        return sum(kept) >= 2 and all(kept)
    return bool(kept) and sum(kept) * 2 > len(kept)


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
