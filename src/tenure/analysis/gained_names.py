"""Objects and dicts that get another name with every step: `setattr(space, f"kept{step}", x)`, `table[word] = x`.

Each name is a shape of its own that never grows; together they are elements of a container that does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.groups import Shapes, View, weigh
from tenure.analysis.growth import find_trend

FEWEST_NAMES = 4
"""That came later than the first census: a program binds its last attributes in its first steps."""


def find_gained_names(views: Sequence[View], shapes: Shapes) -> frozenset[int]:
    """Shapes of the owners that gain names for memory. Costs one sum over all shapes per census."""
    if len(views) < FEWEST_NAMES:
        return frozenset()
    weights = weigh(views, shapes)
    holds = (weights.bytes_below + weights.graph_nodes_below) > 0
    later = np.flatnonzero(~holds[0] & holds[-1]).tolist()
    names_of: dict[int, list[int]] = {}
    for shape in later:
        if shapes.parent[shape] >= 0 and _is_name(shapes.key[shape]):
            names_of.setdefault(shapes.parent[shape], []).append(shape)
    steps = [view.census.step for view in views]
    return frozenset(
        owner
        for owner, names in names_of.items()
        if len(names) >= FEWEST_NAMES and find_trend(steps, holds[:, names].sum(axis=1).tolist()).kind == "growing"
    )


def _is_name(key: str) -> bool:
    return key.startswith((".", "[")) and not key.startswith("[*]")
