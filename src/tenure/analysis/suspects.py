"""The one question to the analysis room: what in these censuses should not be alive, and who holds it?"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from tenure.analysis.growth.gained_names import find_gained_names, find_grown_large
from tenure.analysis.growth.growing import find_growing, find_growing_out_of_sight
from tenure.analysis.growth.passing_copies import told_by_what_lasts
from tenure.analysis.growth.shared_chains import find_shared_chains
from tenure.analysis.growth.trend import FEWEST_POINTS
from tenure.analysis.growth.unseen_growth import find_unseen_growth
from tenure.analysis.heap.groups import Searched, Shapes, View, in_order, search, view_census, view_searched
from tenure.analysis.heap.host_part import host_part, tensor_part
from tenure.analysis.host.host_growth import find_host_growth
from tenure.analysis.idle.idle_modules import find_idle_modules
from tenure.analysis.kept.carried import find_carried, find_left_with_graphs
from tenure.analysis.kept.cycles import find_cycles
from tenure.analysis.kept.gradients_left import find_gradients_left
from tenure.analysis.kept.hidden_only import find_hidden_only
from tenure.analysis.kept.left_in_optimizers import find_left_in_optimizers
from tenure.analysis.kept.passed_state import find_passed_state
from tenure.analysis.kept.pinning_views import find_pinning_views
from tenure.analysis.kept.replaced_layers import find_replaced_layers
from tenure.analysis.kept.survivors import find_survivors
from tenure.model.heap import ROOT_KINDS, Census
from tenure.model.suspect import NODE_HOOK, Suspect
from tenure.parts import STRICT, Parts

_MOMENTS = ("step-end", "forward-entry", "request", "exit")
LITTLE_BESIDE = 0.1
"""Share of what only a hidden root or a kept exception holds, below which other findings of its root do not tell it."""


def find_suspects(
    censuses: Sequence[Census], searched: Sequence[Searched] = (), *, parts: Parts = STRICT
) -> tuple[Suspect, ...]:
    """All suspects of one process, those that hold most first; their keys number them in this order. `searched` are
    the same censuses' tensor parts where they have been searched before.

    Healthy growth (state made lazily, caches at their bound, data sets, averages of the weights) is none. Costs
    some microseconds per node and census, and a search per suspect.
    """
    shapes = Shapes()
    searched = searched or [search(tensor_part(census)) for census in censuses]
    views = [view_searched(each, shapes) for each in searched]
    watched = _watched_moment(views)
    shapes.gaining_names |= frozenset(parts.found(find_gained_names, in_order(views, watched), shapes))
    shapes.gaining_names |= frozenset(parts.found(find_grown_large, in_order(views, watched)))
    if shapes.gaining_names:
        views = [view_searched(each, shapes) for each in searched]
    by_moment = {moment: in_order(views, moment) for moment in _MOMENTS}
    growing, grown_shapes = _find_growing(by_moment[watched], by_moment["forward-entry"], shapes, parts)
    at_end, found = by_moment["step-end"], parts.found
    carried = found(find_carried, by_moment["forward-entry"], at_end, shapes, growing=grown_shapes)
    carried += found(find_left_with_graphs, at_end, shapes, growing=grown_shapes, told=(*growing, *carried))
    cycles = found(find_cycles, by_moment[watched])
    growing = parts.changed(growing, _with_what_is_out_of_sight, by_moment[watched], cycles)
    host = found(_find_host_growth, censuses, watched)
    let_go = (*found(find_survivors, views), *found(find_replaced_layers, views))
    survivors = _told_once(found(find_left_in_optimizers, views), let_go)
    released = {str(suspect.facts["module"]) for suspect in survivors}
    survivors += _not_told(found(find_hidden_only, views), (*growing, *survivors))
    known = frozenset().union(*(suspect.storages for suspect in survivors))
    pinned = found(find_pinning_views, views, shapes, told=grown_shapes)
    idle = [each for each in found(find_idle_modules, views, shapes, told=released) if not each.storages <= known]
    told = known.union(*(suspect.storages for suspect in idle))
    resting = (*idle, *found(find_gradients_left, _in_training(views), shapes))
    resting += tuple(each for each in found(find_passed_state, views) if not each.storages & told)
    ordered = sorted(
        (*growing, *carried, *cycles, *survivors, *pinned, *resting, *host),
        key=lambda suspect: (-suspect.retained_bytes, -suspect.num_objects, suspect.symptom, suspect.fingerprint),
    )
    return tuple(dataclasses.replace(suspect, key=key) for key, suspect in enumerate(ordered, start=1))


def _find_growing(
    views: Sequence[View], entries: Sequence[View], shapes: Shapes, parts: Parts
) -> tuple[tuple[Suspect, ...], frozenset[int]]:
    """What grows where censuses see it and beyond, and the shapes that are accounted for so."""
    nothing: tuple[tuple[Suspect, ...], frozenset[int]] = ((), frozenset())
    growing, shapes_seen = parts.take(nothing, find_growing, views, shapes, entries=entries, parts=parts)
    growing = parts.take(growing, told_by_what_lasts, views, shapes, shapes_seen, growing)
    beyond, cut_short = parts.take(nothing, find_growing_out_of_sight, views, shapes, told=shapes_seen)
    growing = (*growing, *beyond)
    return (*growing, *parts.found(find_shared_chains, views, told=growing)), shapes_seen | cut_short


def _watched_moment(views: Sequence[View]) -> str:
    """The moment with most censuses of the training."""
    chosen = _in_training(views)
    return max(_MOMENTS, key=lambda moment: (len(in_order(chosen, moment)), -_MOMENTS.index(moment)))


def _in_training(views: Sequence[View]) -> Sequence[View]:
    """Those since an optimizer first ended a step, where that has three or more ends: before, each call of a model
    counted as a step, as a policy's does that fills a replay memory first."""
    begins = min((view.census.step for view in views if view.census.moment == "step-end"), default=0)
    since = [view for view in views if view.census.step >= begins]
    return since if len(in_order(since, "step-end")) >= FEWEST_POINTS else views


def _with_what_is_out_of_sight(
    growing: tuple[Suspect, ...], views: Sequence[View], cycles: Sequence[Suspect]
) -> tuple[Suspect, ...]:
    """What grows on roots, and in one piece what owners out of sight hold where that explains more."""
    if cycles:
        in_rings = frozenset().union(*(each.storages for each in cycles))
        growing = tuple(each for each in growing if _hangs_on_a_root(each) or _hangs_on_hooks_of_nodes(each, in_rings))
    seen = [suspect for suspect in growing if "unseen_owners" not in suspect.facts]
    unseen = find_unseen_growth(views, (*seen, *cycles))
    return (*seen, *unseen) if unseen else growing


def _find_host_growth(censuses: Sequence[Census], moment: str) -> tuple[Suspect, ...]:
    chosen = {census.step: census for census in censuses if census.moment == moment}
    if not any(len(census.host.owner) for census in chosen.values()):
        return ()
    shapes = Shapes()
    views = [view_census(host_part(chosen[step]), shapes) for step in sorted(chosen)]
    return find_host_growth(views, shapes)


def _told_once(left: Sequence[Suspect], survivors: Sequence[Suspect]) -> list[Suspect]:
    """What only an optimizer keeps of a module that was let go is told with gradients and state, and not again."""
    told = {_what_was_let_go(suspect) for suspect in left}
    return [*left, *(each for each in survivors if _what_was_let_go(each) not in told)]


def _what_was_let_go(suspect: Suspect) -> tuple[object, ...]:
    return suspect.facts["released"], suspect.facts["released_step"], suspect.facts["module"]


def _hangs_on_a_root(suspect: Suspect) -> bool:
    """Where rings wait for the collector, what grows without a root hangs below them: it is told with the ring."""
    return bool(suspect.path) and suspect.path[0].source_kind in {kind.name for kind in ROOT_KINDS}


def _hangs_on_hooks_of_nodes(suspect: Suspect, in_rings: frozenset[tuple[int, int]]) -> bool:
    """Whether C++ keeps it for a node of a graph, whatever rings there are beside: a collection leaves it."""
    return NODE_HOOK in suspect.facts and not suspect.storages <= in_rings


def _not_told(hidden: Sequence[Suspect], told: Sequence[Suspect]) -> list[Suspect]:
    """What hangs on a root that no growing or released memory is told to hang on, but for what is little beside it."""
    known: Counter[str] = Counter()
    for suspect in told:
        known[suspect.path_text[0] if suspect.path_text else ""] += suspect.retained_bytes
    roots = [(each, each.path_text[0]) for each in hidden if each.path_text]
    return [each for each, root in roots if root not in known or known[root] < LITTLE_BESIDE * each.retained_bytes]
