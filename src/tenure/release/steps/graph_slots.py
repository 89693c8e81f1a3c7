"""Cuts autograd graphs off what names refer to: tensors, and containers that nothing but the names lead to.

Runs at the end of every step: a few microseconds for some tensors and a dict of results, which is why containers are
noted in plain lists here and types are told apart once.
"""

from __future__ import annotations

import sys
import types
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import torch

from tenure.capture.labels import instance_dict
from tenure.release.cut_graph import carries_graph, shown_bytes, without_graph
from tenure.release.steps.reference_counts import OF_VARIABLE

MOST_LOOKED_AT = 1_000
"""Elements of one container, and containers in all, that are looked at; what lies beyond is left as it is."""
SHARED = "something else holds it too"
_NOT_ENTERED, _TENSOR, _DICT, _LIST, _TUPLE, _DEQUE, _OBJECT = range(7)
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
_PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))
_MOST_KINDS = 1_000
_kinds: dict[type, int] = {}


NameCut = tuple[str, str, int, Sequence[weakref.ref[torch.Tensor]], int, str]
"""What became of one name: the name, its value's type, bytes of the tensors behind it that carried a graph (their own),
weak references to those, how many of them were cut off it, and why not all ("" where they were).

A tensor that still lives when the names have let go is held by somebody else. A plain tuple, for one is made per name
and step.
"""


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


def cut_values(values: dict[str, Any], *, holders: int) -> tuple[list[NameCut], dict[str, Any]]:
    """Cuts what can be cut; gives back what each name with a graph came to, and the values to bind names to anew.

    Lists, dicts, deques and plain objects are changed in place where the names in `values` alone lead to them; for
    tensors and tuples there is a new value. `holders` is how many references each name stands for, the one in
    `values` included. Tensors keep their values; subclasses of Tensor do not see our reads.
    """
    cuts: list[NameCut] = []
    anew: dict[str, Any] = {}
    replaced: dict[int, Any] = {}
    kinds, others, value = _kinds, [], None
    for name, value in values.items():
        if type(value) is torch.Tensor:
            try:
                if not value.requires_grad or value.is_leaf:
                    continue
                num_bytes = value.nbytes
            except RuntimeError:  # a view that does not tell, a sparse one that has no `nbytes`
                num_bytes = shown_bytes(value)
            number = id(value)
            cuts.append((name, "Tensor", num_bytes, (weakref.ref(value),), 1, ""))
            if number not in replaced:
                replaced[number] = without_graph(value, num_bytes)
            anew[name] = replaced[number]
        elif kinds.get(type(value)) != _NOT_ENTERED:
            others.append(name)
    if others:
        del value  # it would count as a holder
        originals: list[Any] = []  # what was replaced keeps its id while that names the new value
        nested: list[str] = []
        for name in others:  # a comprehension would be a function of its own, up to Python 3.11
            if not _cut_flat(values, name, holders, replaced, originals, cuts):
                nested.append(name)
        if nested:
            with torch._C.DisableTorchFunctionSubclass():
                _cut_nested(values, nested, holders, replaced, originals, cuts, anew)
    return cuts, anew


def _cut_flat(
    values: dict[str, Any],
    name: str,
    holders: int,
    replaced: dict[int, Any],
    originals: list[Any],
    cuts: list[NameCut],
) -> bool:
    """The same, in one pass, for a dict or list that the name alone holds and that leads to no tensor but its own
    elements; whether it was one. Most results of a step are."""
    value, kinds = values[name], _kinds
    if type(value) is dict:
        items: Any = value.items()
    elif type(value) is list:
        items = enumerate(value)
    else:
        return False
    if len(value) > MOST_LOOKED_AT:
        return False
    keys, tensor_type = [], torch.Tensor
    for key, item in items:
        cls = type(item)
        if cls is tensor_type:
            try:
                if item.requires_grad and not item.is_leaf:
                    keys.append(key)
            except RuntimeError:
                keys.append(key)
        elif kinds.get(cls) == _NOT_ENTERED or (cls is dict and _PLAIN.issuperset(map(type, item.values()))):
            continue
        elif cls is not list or not _PLAIN.issuperset(map(type, item)):
            return False
    if not keys:
        return True
    del items
    if sys.getrefcount(value) > holders + OF_VARIABLE:
        return False
    num_bytes, references, seen = 0, [], []
    for key in keys:
        item = value[key]
        new = replaced.get(id(item))
        if new is None:
            new = replaced[id(item)] = without_graph(item)
            originals.append(item)
        value[key] = new
        if id(item) not in seen:
            seen.append(id(item))
            references.append(weakref.ref(item))
            try:
                num_bytes += new.nbytes
            except RuntimeError:
                num_bytes += shown_bytes(new)
    cuts.append((name, type(value).__name__, num_bytes, references, len(references), ""))
    return True


def _cut_nested(
    values: dict[str, Any],
    names: list[str],
    holders: int,
    replaced: dict[int, Any],
    originals: list[Any],
    cuts: list[NameCut],
    anew: dict[str, Any],
) -> None:
    """The same for all other containers and for subclasses of Tensor; `replaced` has what tensors were replaced by
    already, and `originals` keeps those."""
    search = _Search(replaced, originals)
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
            cuts.append((name, type(values[name]).__name__, num_bytes, references, len(references), ""))
    for name, *_ in cuts[first:]:
        new = search.without_graphs(values[name])
        if new is not values[name]:
            anew[name] = new
    if search.num_shared:
        cuts[first:] = [_judged(cut, anew.get(cut[0], values[cut[0]])) for cut in cuts[first:]]


def _judged(cut: NameCut, value: Any) -> NameCut:
    """The same with why not all was cut, where a graph is left behind the name's new value."""
    after = _Search({}, [])
    after.enter([(value, 0)])
    num_left = len(after.graphs_behind(value))
    return (*cut[:4], len(cut[3]) - num_left, SHARED if num_left else "")


class _Search:
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
        containers, graphs, kinds = self._containers, self.graphs, _kinds
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
    known = _kinds.get(cls)
    if known is None:
        if len(_kinds) >= _MOST_KINDS:
            _kinds.clear()
        known = _kinds[cls] = _tell_kind(cls)
    return known


def _tell_kind(cls: type) -> int:
    if issubclass(cls, _NEVER_ENTERED):
        return _NOT_ENTERED
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
