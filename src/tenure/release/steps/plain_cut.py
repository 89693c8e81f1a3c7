"""The plain part of a step's cut: tensors behind names, and in dicts and lists that a name alone holds.

Most of what a step leaves behind is that. `cut_plain` is the C function of `_plaincut.c` where that was built: with a
dict of results a whole scope takes 17 us with it, 23 to 25 without. Elsewhere it is `cut_in_python`, its twin.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch

from tenure.release.cut_graph import MOST_UNUSED, shown_bytes, without_graph
from tenure.release.steps.graph_slots import MOST_LOOKED_AT, NOT_ENTERED, kinds
from tenure.release.steps.reference_counts import OF_PARAMETER, OF_VARIABLE

try:
    _plaincut: Any = import_module("tenure.release.steps._plaincut")
except ImportError:
    _plaincut = None

_TENSOR = torch.Tensor
_LARGEST_NUMBER = 16
"""Bytes of one element; only results of one are known to lie in larger memories without being views."""
_PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))

Note = tuple[str, str, int, int, "weakref.ref[torch.Tensor] | None"]
"""One tensor that carried a graph behind a name: the name, its value's type, the tensor's id at that moment and its own
bytes, and a weak reference where the names got another in its place: one that still lives is held by somebody else. A
plain tuple, for one is made per tensor and step."""
PlainCut = tuple[list[Note], dict[str, Any], list[str], dict[int, Any], list[Any]]
"""What was found; the values to bind names to anew; names of what has to be searched; and where there are such, what
each tensor was replaced by, by its id, and the tensors that were, which keep their ids while that is asked."""
_Place = tuple[str, Any, Any]
"""A name, and the container and key that lead to a tensor with a graph; for the name's own value these are all names'
values and the name."""


def cut_in_python(values: dict[str, Any], holders: int) -> PlainCut:
    """Cuts tensors with a graph in place where nothing else has them, and puts others without one in their places.

    `holders` is how many references each name stands for, the one in `values` included.
    """
    notes: list[Note] = []
    anew: dict[str, Any] = {}
    places, nested, met = _find_places(values, holders)
    replaced: dict[int, Any] = {}
    originals: list[Any] = []
    for name, container, key in places:
        tensor = container[key]
        number = id(tensor)
        num_bytes = shown_bytes(tensor)
        new = replaced.get(number)
        if new is None:
            new = replaced[number] = _cut(tensor, met[number], num_bytes)
        kind = "Tensor" if container is values else type(container).__name__
        if new is tensor:
            notes.append((name, kind, number, num_bytes, None))
            continue
        notes.append((name, kind, number, num_bytes, weakref.ref(tensor)))
        originals.append(tensor)
        if container is values:
            anew[name] = new
        else:
            container[key] = new
    return (notes, anew, nested, replaced, originals) if nested else (notes, anew, nested, {}, [])


def _find_places(values: dict[str, Any], holders: int) -> tuple[list[_Place], list[str], dict[int, int]]:
    """Where tensors with a graph stand: behind names, and in dicts and lists that their name alone holds and that lead
    to no others; names of what has to be searched; and by id how many references to each tensor were met.

    What iterates over a dict's items would keep one more reference to what it is at.
    """
    places: list[_Place] = []
    nested: list[str] = []
    met: dict[int, int] = {}
    for name in values:
        value = values[name]
        cls = type(value)
        if cls is _TENSOR:
            try:
                if not value.requires_grad or value.is_leaf:
                    continue
            except RuntimeError:  # a view that does not tell, for its base was written to
                pass
            places.append((name, values, name))
            number = id(value)
            met[number] = met.get(number, 0) + holders
        elif kinds.get(cls) != NOT_ENTERED:
            keys = _keys_of_graphs(value)
            if keys is None or (keys and sys.getrefcount(value) > holders + OF_VARIABLE):
                nested.append(name)
            elif keys:
                for key in keys:
                    places.append((name, value, key))
                    number = id(value[key])
                    met[number] = met.get(number, 0) + 1
    return places, nested, met


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


def _cut(tensor: torch.Tensor, num_met: int, num_bytes: int) -> torch.Tensor:
    """The tensor itself, its graph cut off in place, where nothing has it but the references that were met: no name, no
    graph that saved it, no view, and not itself one. Otherwise, and for a number that lies in a larger memory, as
    `mse_loss` of torch 2.13 gives back (pytorch#185647), a new tensor of the same values."""
    if sys.getrefcount(tensor) <= num_met + OF_PARAMETER and tensor._use_count() == 1 and not tensor._is_view():
        try:
            if num_bytes > _LARGEST_NUMBER or tensor.untyped_storage().nbytes() <= MOST_UNUSED * num_bytes:
                return tensor.detach_()
        except RuntimeError:  # sparse, opaque
            pass
    return without_graph(tensor, num_bytes)


def _native_cut() -> Callable[[dict[str, Any], int], PlainCut] | None:
    """None where it was not compiled, and where tensors lack what it asks them."""
    if _plaincut is None:
        return None
    try:
        _plaincut.use_tools(_TENSOR, kinds, without_graph, shown_bytes, cut_in_python)
    except (AttributeError, TypeError):
        return None
    native: Callable[[dict[str, Any], int], PlainCut] = _plaincut.cut_plain
    return native


cut_plain = _native_cut() or cut_in_python
