"""Cuts autograd graphs off what names refer to: tensors, and containers that nothing but the names lead to.

Runs at the end of every step. A tensor that nothing but these names has loses its graph where it stands, which spares
a new tensor and the binding of its name; of one that others have too the names get the values without the graph.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from tenure.release.cut_graph import shown_bytes
from tenure.release.steps.graph_slots import GraphSearch
from tenure.release.steps.plain_cut import Note, cut_plain

SHARED = "something else holds it too"

Left = dict[str, tuple[int, str]]
"""Of names behind which not all was cut: how many tensors were not, and why."""


def cut_values(values: dict[str, Any], *, holders: int) -> tuple[list[Note], Left, dict[str, Any]]:
    """Cuts what can be cut; gives back what was found, what was left, and the values to bind names to anew.

    Tensors, lists, dicts, deques and plain objects are changed in place where the names in `values` alone lead to
    them; of other tensors and of tuples there is a new value. `holders` is how many references each name stands for,
    the one in `values` included. Tensors keep their values; subclasses of Tensor do not see our reads.
    """
    notes, anew, nested, replaced, originals = cut_plain(values, holders)
    left: Left = {}
    if nested:
        with torch._C.DisableTorchFunctionSubclass():
            _cut_nested(values, nested, holders, replaced, originals, notes, left, anew)
    return notes, left, anew


def _cut_nested(
    values: dict[str, Any],
    names: list[str],
    holders: int,
    replaced: dict[int, Any],
    originals: list[Any],
    notes: list[Note],
    left: Left,
    anew: dict[str, Any],
) -> None:
    """All other containers and subclasses of Tensor; `replaced` has what tensors were replaced by already, and
    `originals` keeps those."""
    search = GraphSearch(replaced, originals)
    search.enter([(values[name], holders) for name in names])
    if not search.graphs:
        return
    search.find_shared()
    found = {name: tensors for name in names if (tensors := search.graphs_behind(values[name]))}
    for name, tensors in found.items():
        kind = type(values[name]).__name__
        notes += [(name, kind, id(tensor), shown_bytes(tensor), weakref.ref(tensor)) for tensor in tensors]
    for name in found:
        new = search.without_graphs(values[name])
        if new is not values[name]:
            anew[name] = new
    if search.num_shared:
        for name in found:
            after = GraphSearch({}, [])
            after.enter([(anew.get(name, values[name]), 0)])
            num_left = len(after.graphs_behind(anew.get(name, values[name])))
            if num_left:
                left[name] = num_left, SHARED
