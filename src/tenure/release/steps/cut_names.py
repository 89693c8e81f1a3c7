"""Cuts autograd graphs off what names refer to: tensors, and containers that nothing but the names lead to.

Runs at the end of every step. A tensor that nothing but these names has loses its graph where it stands, which spares
a new tensor and the binding of its name; of one that others have too the names get the values without the graph.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from tenure.release.cut_graph import MOST_UNUSED, shown_bytes, without_graph
from tenure.release.steps.graph_slots import MOST_LOOKED_AT, NOT_ENTERED, GraphSearch, kinds
from tenure.release.steps.reference_counts import OF_PARAMETER, OF_VARIABLE

_TENSOR = torch.Tensor
SHARED = "something else holds it too"
_PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))

NameCut = tuple[str, str, int, Sequence[weakref.ref[torch.Tensor]], int, int, str]
"""What became of one name: the name, its value's type, bytes of the tensors behind it that carried a graph (their own),
weak references to those of them that others may have too, how many they were, how many were cut off, and why not all
("" where they were).

A tensor that still lives when the names have let go is held by somebody else. A plain tuple, for one is made per name
and step.
"""


def cut_values(values: dict[str, Any], *, holders: int) -> tuple[list[NameCut], dict[str, Any]]:
    """Cuts what can be cut; gives back what each name with a graph came to, and the values to bind names to anew.

    Tensors, lists, dicts, deques and plain objects are changed in place where the names in `values` alone lead to
    them; of other tensors and of tuples there is a new value. `holders` is how many references each name stands for,
    the one in `values` included. Tensors keep their values; subclasses of Tensor do not see our reads.
    """
    cuts: list[NameCut] = []
    anew: dict[str, Any] = {}
    tensors, flat, nested, met = _find_graphs(values, holders)
    replaced: dict[int, Any] = {}
    for name in tensors:
        value = values[name]
        number = id(value)
        num_bytes = _bytes_of(value)
        new = replaced.get(number)
        if new is None:
            new = replaced[number] = _cut(value, met[number], num_bytes)
        if new is value:
            cuts.append((name, "Tensor", num_bytes, (), 1, 1, ""))
        else:
            cuts.append((name, "Tensor", num_bytes, (weakref.ref(value),), 1, 1, ""))
            anew[name] = new
    value = new = None  # they would count as holders
    originals: list[Any] = []  # what was replaced keeps its id while that names the new value
    for name, keys in flat:
        cuts.append(_cut_flat(name, values[name], keys, met, replaced, originals))
    if nested:
        with torch._C.DisableTorchFunctionSubclass():
            _cut_nested(values, nested, holders, replaced, originals, cuts, anew)
    return cuts, anew


def _find_graphs(
    values: dict[str, Any], holders: int
) -> tuple[list[str], list[tuple[str, list[Any]]], list[str], dict[int, int]]:
    """Names of tensors with a graph; names of dicts and lists that have such, lead to no others and are held by their
    name alone, with the keys; names of what has to be searched; and by id how many references to each tensor were met.

    What iterates over a dict's items would keep one more reference to what it is at.
    """
    tensors, flat, nested, met = [], [], [], {}
    for name in values:
        value = values[name]
        cls = type(value)
        if cls is _TENSOR:
            try:
                if not value.requires_grad or value.is_leaf:
                    continue
            except RuntimeError:  # a view that does not tell, for its base was written to
                pass
            tensors.append(name)
            number = id(value)
            met[number] = met.get(number, 0) + holders
        elif kinds.get(cls) != NOT_ENTERED:
            keys = _keys_of_graphs(value)
            if keys is None or (keys and sys.getrefcount(value) > holders + OF_VARIABLE):
                nested.append(name)
            elif keys:
                flat.append((name, keys))
                for key in keys:
                    number = id(value[key])
                    met[number] = met.get(number, 0) + 1
    return tensors, flat, nested, met


def _keys_of_graphs(value: Any) -> list[Any] | None:
    """Where the tensors with a graph stand in a dict or list that leads to no others, as most results of a step do;
    None for what has to be searched."""
    cls = type(value)
    if (cls is not dict and cls is not list) or len(value) > MOST_LOOKED_AT:
        return None
    keys = []
    for key, item in value.items() if cls is dict else enumerate(value):
        inner = type(item)
        if inner is _TENSOR:
            try:
                if item.requires_grad and not item.is_leaf:
                    keys.append(key)
            except RuntimeError:
                keys.append(key)
        elif kinds.get(inner) == NOT_ENTERED or (inner is dict and _PLAIN.issuperset(map(type, item.values()))):
            continue
        elif inner is not list or not _PLAIN.issuperset(map(type, item)):
            return None
    return keys


def _cut_flat(
    name: str, value: Any, keys: list[Any], met: dict[int, int], replaced: dict[int, Any], originals: list[Any]
) -> NameCut:
    """One name of a dict or list that it alone holds, changed in place."""
    sizes: dict[int, int] = {}
    references = []
    for key in keys:
        item = value[key]
        number = id(item)
        new = replaced.get(number)
        if number not in sizes:
            sizes[number] = _bytes_of(item)
            if new is None:
                new = replaced[number] = _cut(item, met[number], sizes[number])
            if new is not item:
                originals.append(item)
                references.append(weakref.ref(item))
        if new is not item:
            value[key] = new
    return name, type(value).__name__, sum(sizes.values()), references, len(sizes), len(sizes), ""


def _cut(tensor: torch.Tensor, num_met: int, num_bytes: int) -> torch.Tensor:
    """The tensor itself, its graph cut off in place, where nothing has it but the references that were met: no name, no
    graph that saved it, no view, and not itself one of a larger memory. Otherwise a new tensor of the same values."""
    if sys.getrefcount(tensor) <= num_met + OF_PARAMETER and tensor._use_count() == 1 and not tensor._is_view():
        try:
            if tensor.untyped_storage().nbytes() <= MOST_UNUSED * num_bytes:
                return tensor.detach_()
        except RuntimeError:  # sparse, opaque
            pass
    return without_graph(tensor, num_bytes)


def _bytes_of(tensor: torch.Tensor) -> int:
    try:
        return tensor.nbytes
    except RuntimeError:
        return shown_bytes(tensor)


def _cut_nested(
    values: dict[str, Any],
    names: list[str],
    holders: int,
    replaced: dict[int, Any],
    originals: list[Any],
    cuts: list[NameCut],
    anew: dict[str, Any],
) -> None:
    """All other containers and subclasses of Tensor; `replaced` has what tensors were replaced by already, and
    `originals` keeps those."""
    search = GraphSearch(replaced, originals)
    search.enter([(values[name], holders) for name in names])
    if not search.graphs:
        return
    search.find_shared()
    first = len(cuts)
    for name in names:
        tensors = search.graphs_behind(values[name])
        if tensors:
            num_bytes = sum(map(shown_bytes, tensors))
            references = tuple(map(weakref.ref, tensors))
            number = len(references)
            cuts.append((name, type(values[name]).__name__, num_bytes, references, number, number, ""))
    for name, *_ in cuts[first:]:
        new = search.without_graphs(values[name])
        if new is not values[name]:
            anew[name] = new
    if search.num_shared:
        cuts[first:] = [_judged(cut, anew.get(cut[0], values[cut[0]])) for cut in cuts[first:]]


def _judged(cut: NameCut, value: Any) -> NameCut:
    """The same with why not all was cut, where a graph is left behind the name's new value."""
    after = GraphSearch({}, [])
    after.enter([(value, 0)])
    num_left = len(after.graphs_behind(value))
    return (*cut[:5], cut[4] - num_left, SHARED if num_left else "")
