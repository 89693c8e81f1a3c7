"""Memory that grows behind owners that no census shows: hooks that only C++ keeps, lists of C code, call stacks.

Each of them holds little, and mostly something of another kind: none is a group that grows. Their sum is told, where
it explains what nothing else does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tenure.analysis.growth.trend import WARM_UP_STEP, is_growing, late_part, theil_sen
from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.graph import is_builtin_type, reach
from tenure.analysis.heap.groups import View, fingerprint_of, series_of_nodes
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.islands import unseen_owned
from tenure.analysis.heap.loops import is_on_stack
from tenure.analysis.heap.storage_facts import identities, is_on
from tenure.analysis.heap.wording import is_known_owner
from tenure.analysis.kept.cycles import below_rings
from tenure.model.heap import Ints, NodeKind
from tenure.model.suspect import HoldingReference, Series, Suspect

EXPLAINED_SHARE = 0.5
"""Where suspects explain so much of how the memory of a device grows, the rest may well be theirs."""
LEAST_BYTES = 256 << 10
LEAST_SHARE = 0.01
KEPT_SHARE = 0.6
"""Of an earlier census's bytes that must still be held out of sight: else it is turnover that happens to rise."""
FEWEST_POINTS = 4
OWNER = "an owner that is not visible to Python"
_MOST_TYPES = 3


def find_unseen_growth(views: Sequence[View], told: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """At most one suspect of growth per device, over the censuses of one moment: all that owners out of sight hold.

    None where `told` explain half of how that memory grows, where all memory together does not grow, and where what
    is held out of sight does not stay. Costs three searches per census.
    """
    if sum(view.census.step > WARM_UP_STEP for view in views) < FEWEST_POINTS:
        return ()
    devices = sorted({view.census.text(device) for view in views for device in view.census.storages.device.tolist()})
    growing = [device for device in devices if _is_unexplained(views, device, told)]
    if not growing:
        return ()
    held = [_held_out_of_sight(view) for view in views]
    found = (_suspect(views, held, device) for device in growing)
    return tuple(suspect for suspect in found if suspect is not None)


def owners_out_of_sight(view: View, members: Ints) -> int:
    """How many owners hold `members` where no root does and most have one of their own; else 0."""
    if not len(members) or any(view.paths.held_by_root(node) for node in members.tolist()):
        return 0
    starts = np.unique(_climb(view, members)[0])
    in_graph = view.census.nodes.kind[starts] == NodeKind.AUTOGRAD
    if in_graph.any() or any(is_known_owner(view.graph, node) for node in starts.tolist()):
        return 0
    return len(starts) if 2 * len(starts) > len(members) else 0


def _is_unexplained(views: Sequence[View], device: str, told: Sequence[Suspect]) -> bool:
    steps = [view.census.step for view in views]
    totals = [int(_on(view, device).sum()) for view in views]
    if not is_growing(*late_part(steps, totals)):
        return False
    explained = sum(
        suspect.growth_bytes_per_step or 0
        for suspect in told
        if suspect.device == device and suspect.symptom in ("growth", "cycle")
    )
    return explained < EXPLAINED_SHARE * theil_sen(*late_part(steps, totals))


def _on(view: View, device: str) -> Ints:
    """Per node: the bytes of a storage on that device, 0 for all others."""
    storages, weights = view.census.storages, np.zeros(view.graph.size, dtype=np.int64)
    here = is_on(view.census, device)
    weights[storages.node[here]] = storages.bytes[here]
    return weights


def _held_out_of_sight(view: View) -> Ints:
    """Storages that an owner out of sight holds and no root does. What a ring refers to has an owner that is known,
    and so has what a loop runs over or a callback is bound to."""
    graph, storages = view.graph, view.census.storages.node
    owned = unseen_owned(graph)
    owned = owned[~below_rings(graph)[owned]]
    unknown = [node for node in owned.tolist() if not (is_on_stack(graph, node) or is_known_owner(graph, node))]
    held = reach(graph, np.array(unknown, dtype=np.int64)) & ~reach(graph, graph.roots)
    return storages[held[storages]]


def _suspect(views: Sequence[View], held: Sequence[Ints], device: str) -> Suspect | None:
    view = views[-1]
    held = [nodes[_on(each, device)[nodes] > 0] for each, nodes in zip(views, held, strict=True)]
    series = series_of_nodes(view.census.moment, views, held)
    if not _matters(view, series, device) or not _stays(views, held):
        return None
    suspect = assemble_suspect(
        Group(view, held[-1], held[-1], cut=(), freed=held[-1]),
        symptom="growth",
        measured=Measured(
            series=series,
            bytes_per_step=theil_sen(*late_part(series.steps, series.bytes)),
            objects_per_step=theil_sen(*late_part(series.steps, series.objects)) or None,
            facts=_who_holds_what(view, held[-1]),
        ),
        fingerprint=fingerprint_of(f"out of sight on {device}"),
    )
    holder = HoldingReference(kind="unknown", name=OWNER, expression=OWNER)
    return replace(suspect, holder=holder, cut=(), drops=(), through_graph=False, scalars=False, pinned_bytes=0)


def _matters(view: View, series: Series, device: str) -> bool:
    least = max(LEAST_BYTES, int(LEAST_SHARE * _on(view, device).sum()))
    return is_growing(*late_part(series.steps, series.bytes)) and series.bytes[-1] - min(series.bytes) >= least


def _stays(views: Sequence[View], held: Sequence[Ints]) -> bool:
    """What one census saw is there in the next, in most pairs."""
    known = [identities(view, nodes) for view, nodes in zip(views, held, strict=True)]
    pairs = [(before, after) for before, after in pairwise(known) if before]
    stayed = sum(_bytes(before & after) >= KEPT_SHARE * _bytes(before) for before, after in pairs)
    return 2 * stayed > len(pairs)


def _bytes(found: frozenset[tuple[int, int]]) -> int:
    return sum(num_bytes for _, num_bytes in found)


def _who_holds_what(view: View, nodes: Ints) -> dict[str, object]:
    """How many owners there are, what they hold by type, and the first objects of classes that these lead to."""
    starts, objects = _climb(view, nodes)
    return {
        "unseen_owners": len(np.unique(starts)),
        "they_hold": _by_type(view, np.unique(starts)),
        "leading_to": _by_type(view, np.unique(objects[objects >= 0])),
    }


def _by_type(view: View, nodes: Ints) -> dict[str, int]:
    """The most common types of some nodes, with their numbers."""
    return dict(Counter(view.graph.type_names[node] for node in nodes.tolist()).most_common(_MOST_TYPES))


def _climb(view: View, nodes: Ints) -> tuple[Ints, Ints]:
    """For each node where its path starts, and the first object of a class on the way from there (-1: none)."""
    parents, sources = view.paths.parent, view.census.references.source
    of_class = np.array([not is_builtin_type(name) for name in view.graph.type_names], dtype=bool)
    of_class &= view.census.nodes.kind == NodeKind.OBJECT
    at, found = nodes, np.full(len(nodes), -1, dtype=np.int64)
    while True:
        found = np.where(of_class[at], at, found)
        above = parents[at]
        if not np.any(above >= 0):
            return at, found
        at = np.where(above >= 0, sources[above], at)
