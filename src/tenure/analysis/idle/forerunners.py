"""What became of the storages before one that a step handed on: a queue's batches go one after the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import is_element
from tenure.analysis.heap.paths import path_to
from tenure.model.profile import BEFORE, StepProfile

_MANY = 9


def find_forerunners(profile: StepProfile, row: int, *, view: View, node_of_row: Mapping[int, int]) -> list[int]:
    """Storages of about the same size and dtype that were there before both steps and that the second one let go
    unused; none where it used one of those that hang on the most alike names: what was handed on is then used, too.

    `view` is of the census at the second step's peak, `node_of_row` says where it found the profile's storages.
    """
    storages, second = profile.storages, profile.second
    alike = (storages.dtype == storages.dtype[row]) & (2 * storages.bytes >= storages.bytes[row])
    alike &= (storages.bytes <= 2 * storages.bytes[row]) & (storages.device == storages.device[row])
    went = np.flatnonzero(alike & (storages.birth == BEFORE) & (storages.death >= second)).tolist()
    apart = {each: _labels_apart(view, [node_of_row.get(row), node_of_row.get(each)]) for each in went}
    nearest = min(apart.values(), default=_MANY)
    near = [each for each, labels in apart.items() if labels == nearest <= 1]
    if any(storages.last_use[each] >= second for each in near):
        return []
    return [each for each in near if storages.last_use[each] == BEFORE]


def _labels_apart(view: View, nodes: list[int | None]) -> int:
    """In how many names the ways to two storages differ, a queue's `current` and `next`; one where the census did not
    find both, many where other types of objects lead to them. Entries of a container have none, and where one way is
    shorter, as from the variable for the context in work, only what both have below that counts."""
    seen = [node for node in nodes if node is not None]
    if len(seen) < 2:
        return 1
    one, two = (_way(view, node) for node in seen)
    if len(one) != len(two):
        below = min(len(one), len(two)) - 1
        one, two = one[-below:], two[-below:]
    if [kind for kind, _ in one] != [kind for kind, _ in two]:
        return _MANY
    return sum(label != there for (_, label), (_, there) in zip(one, two, strict=True)) + (len(one) == 1)


def _way(view: View, node: int) -> list[tuple[str, str]]:
    """The types and names that lead to a storage."""
    graph, sources = view.graph, view.census.references.source
    way = path_to(graph, view.paths, node)
    return [(graph.type_names[sources[each]], "" if is_element(graph, each) else graph.labels[each]) for each in way]
