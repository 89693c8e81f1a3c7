"""Lists that are as long as they will be before anything is in them: `[None] * len(data)`, filled as entries come."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tenure.analysis.growth.trend import FEWEST_POINTS
from tenure.analysis.heap.groups import View

_LIST = "list"


def are_slots(views: Sequence[View], containers: Collection[int]) -> bool:
    """Whether all of these, nodes of the last view, are lists that in each census that has them, at least three, were
    of the one length: what is put into their places can be no more than that.
    """
    return bool(containers) and all(_has_one_length(views, container) for container in containers)


def _has_one_length(views: Sequence[View], container: int) -> bool:
    nodes = views[-1].census.nodes
    if views[-1].graph.type_names[container] != _LIST:
        return False
    lengths = [length for view in views for length in _lengths_at(view, int(nodes.address[container]))]
    return len(lengths) >= FEWEST_POINTS and len(set(lengths)) == 1


def _lengths_at(view: View, address: int) -> list[int]:
    nodes = view.census.nodes
    found = np.flatnonzero(nodes.address == address).tolist()
    return [int(nodes.length[node]) for node in found if view.graph.type_names[node] == _LIST]
