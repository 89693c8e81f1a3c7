"""Objects and dicts that get another name with every step: `setattr(space, f"kept{step}", x)`, `table[word] = x`.

Each name is a shape of its own that never grows; together they are elements of a container that does. From a number
of entries on a dict's are told as elements anyway, whatever they are called: they count as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.growth.trend import find_trend
from tenure.analysis.heap.groups import ELEMENT, Shapes, View, weigh
from tenure.analysis.heap.wording import LARGE_CONTAINER

_DICTS = ("dict", "OrderedDict", "defaultdict")
FEWEST_NAMES = 4
"""That came later than the first census: a program binds its last attributes in its first steps."""


def find_gained_names(views: Sequence[View], shapes: Shapes) -> frozenset[int]:
    """Shapes of the owners that gain names for memory. Costs one sum over all shapes per census."""
    if len(views) < FEWEST_NAMES:
        return frozenset()
    weights = weigh(views, shapes)
    holds = (weights.bytes_below + weights.graph_nodes_below) > 0
    names_of: dict[int, list[int]] = {}
    elements_of: dict[int, list[int]] = {}
    for shape in np.flatnonzero(holds.any(axis=0)).tolist():
        if shapes.parent[shape] >= 0 and shapes.key[shape].startswith((".", "[")):
            told_as = elements_of if shapes.key[shape].startswith(ELEMENT) else names_of
            told_as.setdefault(shapes.parent[shape], []).append(shape)
    members = weights.members * holds
    steps = [view.census.step for view in views]
    found = set()
    for owner, names in names_of.items():
        counts = holds[:, names].sum(axis=1) + members[:, elements_of.get(owner, [])].sum(axis=1)
        if counts[-1] - counts[0] >= FEWEST_NAMES and find_trend(steps, counts.tolist()).kind == "growing":
            found.add(owner)
    return frozenset(found)


def find_grown_large(views: Sequence[View]) -> frozenset[int]:
    """Shapes of dicts that are told by their keys' names in some censuses and, because they got more keys, by elements
    in later ones: what one key holds would seem to end there, and something else to begin. One pass over each
    census."""
    small: set[int] = set()
    grown: set[int] = set()
    for view in views:
        lengths = _lengths_of_dicts(view)
        grown |= {shape for shape, length in lengths.items() if length >= LARGE_CONTAINER and shape in small}
        small |= {shape for shape, length in lengths.items() if length < LARGE_CONTAINER}
    return frozenset(grown)


def _lengths_of_dicts(view: View) -> dict[int, int]:
    """Per shape of dicts that are no object's attributes: the length of the smallest."""
    nodes = view.census.nodes
    named = np.array([name.rpartition(".")[2] in _DICTS for name in (*view.census.strings, "")])
    chosen = np.flatnonzero(named[nodes.type] & ~view.graph.instance_tables & (view.shape >= 0))
    found: dict[int, int] = {}
    for shape, length in zip(view.shape[chosen].tolist(), nodes.length[chosen].tolist(), strict=True):
        found[shape] = min(found.get(shape, length), length)
    return found
