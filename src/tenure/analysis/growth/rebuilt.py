"""Containers that are built anew with every step, each time with more elements, all of them other objects than before.

A metric that keeps its rows may copy them all at each call (torchmetrics' `forward` of list states): no row stays, and
yet they pile up.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenure.analysis.growth.trend import is_steady, late_part, theil_sen
from tenure.analysis.heap.groups import View, containers_of
from tenure.analysis.heap.wording import attribute_name

LEAST_PER_STEP = 0.5
"""Members. What comes more rarely may be the copy of a model that gets a layer now and then."""


def is_rebuilt(views: Sequence[View], shape: int, counts: Sequence[int]) -> bool:
    """Whether the members of a shape become more in a straight line, by `counts`, and are elements of a container that
    an object has by name wherever there are any. What a function's variable has is its work, which may grow too."""
    steps = [view.census.step for view in views]
    seen = [view for view, count in zip(views, counts, strict=True) if count]
    at_pace = theil_sen(*late_part(steps, counts)) >= LEAST_PER_STEP
    return at_pace and is_steady(steps, counts) and all(_has_them_by_name(view, shape) for view in seen[-2:])


def _has_them_by_name(view: View, shape: int) -> bool:
    containers = containers_of(view, view.members(shape))
    names = [int(view.paths.parent[container]) for container in containers]
    return bool(names) and all(name >= 0 and attribute_name(view.graph, name) for name in names)
