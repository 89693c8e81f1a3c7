"""Finds the tensors with a graph in containers within containers, and makes those without their graphs.

Types are told apart once, and containers are noted in plain lists: this runs at the end of a step.
"""

from __future__ import annotations

import sys
import types
from collections import deque
from typing import Any

import torch

from tenure.capture.tensors.nested import instance_dict
from tenure.release.cut_graph import carries_graph, without_graph

MOST_LOOKED_AT = 1_000
"""Elements of one container, and containers in all, that are looked at; what lies beyond is left as it is."""
NOT_ENTERED = 0
_TENSOR, _DICT, _LIST, _TUPLE, _DEQUE, _OBJECT = range(1, 7)
_NEVER_ENTERED = (
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    type(None),
    type,
    set,
    frozenset,
    torch.nn.Module,
    torch.optim.Optimizer,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.GeneratorType,
    types.CoroutineType,
)
_BASES = ((torch.Tensor, _TENSOR), (dict, _DICT), (list, _LIST), (tuple, _TUPLE), (deque, _DEQUE))
_SEQUENCES = {_LIST: list, _TUPLE: tuple, _DEQUE: deque}
_WITHOUT_ATTRIBUTES = frozenset((dict, list, tuple, deque))
_MOST_KINDS = 1_000
kinds: dict[type, int] = dict.fromkeys(_NEVER_ENTERED, NOT_ENTERED)
"""What objects of a type are to the search; a type that is not here has not been met yet."""


class _Container:
    """A container behind a name: what stands in it, and how many references to it were met on the way there.

    `places` are (attributes to write to, None for the container itself; key; value) of tensors with a graph and of
    containers.
    """

    __slots__ = ("alone", "kind", "met", "places", "value")

    def __init__(self, value: Any, kind: int, met: int, places: list[tuple[Any, Any, Any]]) -> None:
        self.value = value
        self.kind = kind
        self.met = met
        self.places = places
        self.alone = True


class GraphSearch:
    """The containers behind some names. Holds what it found, so it lives as short as the cut."""

    __slots__ = ("_anew", "_containers", "_originals", "graphs", "num_shared")

    def __init__(self, replaced: dict[int, Any], originals: list[Any]) -> None:
        self.graphs: set[int] = set()
        """Ids of the tensors with a graph."""
        self.num_shared = 0
        self._containers: dict[int, _Container] = {}
        self._anew = replaced
        self._originals = originals

    def enter(self, waiting: list[tuple[Any, int]]) -> None:
        """Finds the containers behind these values; the number beside each is that of its references so far."""
        containers, graphs = self._containers, self.graphs
        while waiting:
            value, met = waiting.pop()
            kind = kinds.get(type(value))
            if kind is None:
                kind = _kind_of(type(value))
            if kind == _TENSOR:
                if carries_graph(value):
                    graphs.add(id(value))
                continue
            known = containers.get(id(value))
            if known is not None:
                known.met += met
            elif kind and len(containers) < MOST_LOOKED_AT:
                places = []
                for place in _places_in(value, kind):
                    item = place[2]
                    inner = kinds.get(type(item))
                    if inner is None:
                        inner = _kind_of(type(item))
                    if inner == _TENSOR:
                        if carries_graph(item):
                            graphs.add(id(item))
                            places.append(place)
                    elif inner:
                        places.append(place)
                        waiting.append((item, _REFERENCE_AND_PLACE))
                if places:
                    containers[id(value)] = _Container(value, kind, met, places)

    def find_shared(self) -> None:
        """Marks containers that others hold too, by their reference counts, and all that hang on them."""
        count = sys.getrefcount
        shared = [each for each in self._containers.values() if count(each.value) > each.met + _OWN]
        while shared:
            container = shared.pop()
            if container.alone:
                container.alone = False
                self.num_shared += 1
                inner = [self._containers.get(id(value)) for _, _, value in container.places]
                shared += [each for each in inner if each is not None]

    def graphs_behind(self, value: Any) -> list[torch.Tensor]:
        """Tensors with a graph that `value` is or leads to, each once."""
        container = self._containers.get(id(value))
        if container is None:
            return [value] if id(value) in self.graphs else []
        found: dict[int, torch.Tensor] = {}
        waiting, seen = [container], {id(container)}
        while waiting:
            for _, _, item in waiting.pop().places:
                inner = self._containers.get(id(item))
                if inner is None:
                    if id(item) in self.graphs:
                        found[id(item)] = item
                elif id(inner) not in seen:
                    seen.add(id(inner))
                    waiting.append(inner)
        return list(found.values())

    def without_graphs(self, value: Any) -> Any:
        """`value` with its graphs cut: a new tensor or tuple, or the same container, changed in place."""
        known = self._anew.get(id(value))
        if known is not None:
            return known
        container = self._containers.get(id(value))
        if container is None:
            return self._replaced(value, without_graph(value)) if id(value) in self.graphs else value
        if not (container.alone or container.kind == _TUPLE):
            return value
        self._anew[id(value)] = value  # a container may lead to itself
        items = list(tuple.__iter__(value)) if container.kind == _TUPLE else None
        any_new = False
        for target, key, item in container.places:
            new = self.without_graphs(item)
            if new is not item:
                any_new = True
                if items is not None:
                    items[key] = new
                elif type(value) is dict:
                    value[key] = new
                else:
                    _write(value if target is None else target, key, new)
        return self._replaced(value, _tuple_like(value, items)) if any_new and items is not None else value

    def _replaced(self, old: Any, new: Any) -> Any:
        self._originals.append(old)
        self._anew[id(old)] = new
        return new


def _kind_of(cls: type) -> int:
    known = kinds.get(cls)
    if known is None:
        if len(kinds) >= _MOST_KINDS:
            kinds.clear()
        known = kinds[cls] = _tell_kind(cls)
    return known


def _tell_kind(cls: type) -> int:
    if issubclass(cls, _NEVER_ENTERED):
        return NOT_ENTERED
    return next((kind for base, kind in _BASES if issubclass(cls, base)), _OBJECT)


def _places_in(value: Any, kind: int) -> list[tuple[Any, Any, Any]]:
    """What a container refers to, by the key to write to, without running code of its class."""
    places: list[tuple[Any, Any, Any]] = []
    if kind == _DICT:
        if dict.__len__(value) <= MOST_LOOKED_AT:
            places = [(None, key, each) for key, each in dict.items(value)]
    elif kind != _OBJECT:
        base: Any = _SEQUENCES[kind]
        if base.__len__(value) <= MOST_LOOKED_AT:
            places = [(None, position, each) for position, each in enumerate(base.__iter__(value))]
    if type(value) not in _WITHOUT_ATTRIBUTES and kind != _TUPLE:
        attributes = instance_dict(value)
        if attributes:
            places += [(attributes, key, each) for key, each in attributes.items()]
    return places


def _write(target: Any, key: Any, value: object) -> None:
    base: Any = next(base for base in (dict, list, deque) if isinstance(target, base))
    base.__setitem__(target, key, value)


def _tuple_like(value: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple of the same type: plain, named, or one of torch's return types."""
    if hasattr(type(value), "n_sequence_fields"):
        return type(value)(items)
    return tuple.__new__(type(value), items)


_REFERENCE_AND_PLACE = 2
_PROBE = _Container([], _LIST, 0, [])
_OWN = sys.getrefcount(_PROBE.value)
"""References to a container's value that are our own while they are counted: its note's, and the count's argument."""
