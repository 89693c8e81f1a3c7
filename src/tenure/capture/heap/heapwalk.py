"""The heap walk: every object from which a target (a tensor) can be reached, and the references between them.

Two builds of one thing: `walk_native` in C, and `walk_python`, its twin, which says what the result is.
`walk` is the native one where it was compiled and the twin elsewhere. Neither changes what it walks.
"""

from __future__ import annotations

import gc
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from importlib import import_module
from typing import Any, NamedTuple

try:
    _heapwalk: Any = import_module("tenure.capture.heap._heapwalk")
except ImportError:
    _heapwalk = None

NATIVE: bool = _heapwalk is not None
"""True where the C walk is in use. The twin gives the same result at many times the cost."""


MOST_NESTED = 4
"""Tables within one that the collector does not track: so deep an array is looked for."""


class Category(IntEnum):
    """What the walk does with the objects of a type."""

    NORMAL = 0
    """A node if a target can be reached from it."""
    TARGET = 1
    """Always a node; what can reach it is what we look for. Its own references are recorded too."""
    ROOT = 2
    """A node if it refers to one, but references *into* it are not recorded: ascent stops here."""
    IGNORE = 3
    """Not a node and not looked into: weak references, and what is our own."""
    ARRAY = 4
    """Holds references that the collector does not see (NumPy object arrays): looked into by `contents`."""


class Walk(NamedTuple):
    """The ancestry of the targets. References are pairs of positions in `nodes`, with multiplicity.

    `host_bytes[i]` is host memory that the node alone holds: its entries if it is a plain list, tuple, dict or set,
    and text, bytes, numbers and arrays to which no other reference leads, also inside dicts and tuples that the
    collector does not track and nothing else refers to. 0 for roots, and unless asked for.

    Nodes stand in the order of the objects given, then arrays in the order they were found.
    `refcounts[i]` is the node's reference count without what this walk and the given list hold (the list
    `nodes` of this very result not counted either); it *includes* whatever else the caller holds.
    -1 means that the object is immortal and its count says nothing. `num_objects` is how many were given.
    """

    nodes: list[object]
    source: array[int]
    target: array[int]
    refcounts: array[int]
    num_objects: int
    host_bytes: array[int]


def _no_contents(_: object) -> list[object]:
    return []


def walk_python(
    objects: list[object],
    *,
    classify: Callable[[type], int],
    roots: Iterable[int] = (),
    ignore: Iterable[int] = (),
    extra: Sequence[object] = (),
    contents: Callable[[object], list[object] | int] = _no_contents,
    least_bytes: int = 0,
) -> Walk:
    """The ancestry of all targets among `objects` (the caller's `gc.get_objects()`, each object once).

    `classify` gives a type's `Category` and is asked once per type. `roots` and `ignore` are `id()`s of single
    objects that are one or the other whatever their type. `extra` (a list or tuple) holds objects that may not be
    listed, such as local variables: only arrays among them can become nodes. `contents` is asked once per array, and
    answers with what it holds, or with the bytes of its own memory. With `least_bytes`, what alone holds as much host
    memory is a target too.

    Automatic collection should be off meanwhile. Costs about a microsecond per reference, and over a hundred
    bytes per object; `walk_native` costs about as much as one `gc.collect()`.
    """
    categories = _Categories(classify)
    overrides = dict.fromkeys(roots, int(Category.ROOT)) | dict.fromkeys(ignore, int(Category.IGNORE))
    found = _References(objects, categories, overrides, contents, least_bytes)
    found.collect(extra)
    if least_bytes:
        found.weigh()
    marked = _ancestry(found.starts, found.targets, found.marks)
    order = [i for i in range(len(objects)) if marked[i]]
    order += [len(objects) + i for i in range(len(found.arrays)) if marked[len(objects) + i]]
    nodes = [found.object_at(i) for i in order]
    source, target = _edges_between(order, found.starts, found.targets)
    host_bytes = array("q", (found.weights[i] if least_bytes else 0 for i in order))
    categories.clear()
    found.arrays.clear()
    listed = sum(1 for i in order if i < len(objects))
    return Walk(nodes, source, target, _reference_counts(nodes, listed), len(objects), host_bytes)


def walk_native(
    objects: list[object],
    *,
    classify: Callable[[type], int],
    roots: Iterable[int] = (),
    ignore: Iterable[int] = (),
    extra: Sequence[object] = (),
    contents: Callable[[object], list[object] | int] = _no_contents,
    least_bytes: int = 0,
) -> Walk:
    """What `walk_python` gives, in C: about the time of one `gc.collect()`, under 64 bytes per object meanwhile."""
    if _heapwalk is None:
        raise ImportError("the native heap walk was not built; use walk or walk_python")
    nodes, source, target, refcounts, host_bytes = _heapwalk.walk(
        objects, classify, roots, ignore, extra, contents, least_bytes
    )
    return Walk(nodes, source, target, refcounts, len(objects), host_bytes)


walk = walk_native if NATIVE else walk_python


def instance_values(item: object) -> list[tuple[str, object]] | None:
    """Attributes of an instance for which no `__dict__` was ever made; None where there is one, or none can be seen.

    Asking for `__dict__` would make it, and it would stay. Needs the C walk and Python 3.11 or later.
    """
    values: list[tuple[str, object]] | None = None if _heapwalk is None else _heapwalk.instance_values(item)
    return values


def is_filled_python(sequence: tuple[object, ...] | list[object]) -> bool:
    """The twin of `is_filled`: a collector's visit skips what is empty."""
    return not (type(sequence) is tuple or type(sequence) is list) or len(gc.get_referents(sequence)) == len(sequence)


is_filled: Callable[[Any], bool] = _heapwalk.is_filled if NATIVE else is_filled_python
"""Whether no place of a tuple or list is still empty; to read an empty place ends the process.

While `tuple(step(batch) for batch in batches)` or `zip(*(...))` runs, the collector knows the tuple and most of its
places are empty. A nanosecond per place.
"""


def filled_places(sequence: tuple[object, ...] | list[object]) -> list[object]:
    """What stands in the places of a tuple or list that is still being filled, in their order."""
    return gc.get_referents(sequence)[::-1]


def atexit_handlers() -> list[tuple[Any, Any, Any]]:
    """Function, arguments and keywords (or None) of every registered exit handler, in order of registration.

    Empty where they cannot be read: `atexit` lists them to nobody, and only the C walk knows the interpreter's layout
    (3.11 to 3.13). The program's own objects: drop the list before anyone counts references.
    """
    return [] if _heapwalk is None else _heapwalk.atexit_handlers() or []


class _Categories:
    """The category of each type, asked for once; by id, with the type, which stays meanwhile."""

    def __init__(self, classify: Callable[[type], int]) -> None:
        self.classify = classify
        self._known: dict[int, tuple[type, int]] = {}

    def of(self, kind: type) -> int:
        known = self._known.get(id(kind))
        if known is None:
            known = self._known[id(kind)] = kind, int(Category(self.classify(kind)))
        return known[1]

    def clear(self) -> None:
        self._known.clear()


def _count_of_one() -> int:
    """What `sys.getrefcount` says of the variable of a loop over a list, when one other reference is there."""
    for item in [object()]:
        return sys.getrefcount(item) + 1
    raise AssertionError


_ALONE = _count_of_one()
_POINTER = struct.calcsize("P")
_TABLES = {id(list): 1, id(tuple): 1, id(dict): 3, id(set): 2}
"""Pointers to an entry of a container, by its type's id."""
_TEXTS = frozenset(map(id, (str, bytes, bytearray)))
_NUMBERS = frozenset(map(id, (int, float)))


def _table_bytes(item: object) -> int:
    kind = id(type(item))
    return _TABLES[kind] * _POINTER * len(item) if kind in _TABLES else 0  # type: ignore[arg-type]


def _leaf_bytes(item: object) -> int:
    if id(type(item)) in _TEXTS:
        return sys.getsizeof(item)
    return 4 * _POINTER if id(type(item)) in _NUMBERS else 0


class _References:
    """Positions of all candidates and the references between them: listed objects first, then arrays."""

    def __init__(
        self,
        objects: list[object],
        categories: _Categories,
        overrides: dict[int, int],
        contents: Callable[[object], list[object] | int],
        least_bytes: int,
    ) -> None:
        self.objects = objects
        self.categories = categories
        self.overrides = overrides
        self.contents = contents
        self.least_bytes = least_bytes
        self.arrays: list[object] = []
        self.starts = array("q", [0])
        self.targets = array("i")
        self.marks = bytearray(len(objects))
        self.number: dict[int, int] = {}
        self.bytes_of_array: dict[int, int] = {}
        self.weights = array("q")
        for position, item in enumerate(objects):
            category = self.category(item)
            if category not in (Category.ROOT, Category.IGNORE):
                self.number[id(item)] = position
            self.marks[position] = category == Category.TARGET

    def category(self, item: object) -> int:
        category = self.categories.of(type(item))
        return self.overrides.get(id(item), category) if self.overrides else category

    def object_at(self, number: int) -> object:
        count = len(self.objects)
        return self.objects[number] if number < count else self.arrays[number - count]

    def collect(self, extra: Sequence[object]) -> None:
        for item in self.objects:
            category = self.category(item)
            if category != Category.IGNORE:
                self.add(gc.get_referents(item))
            if category == Category.ARRAY:
                self.add_contents(item)
            self.starts.append(len(self.targets))
        for item in extra:
            if id(item) not in self.number:
                self.number_of(item)
        for item in _growing(self.arrays):
            self.add(gc.get_referents(item))
            if self.category(item) == Category.ARRAY:
                self.add_contents(item)
            self.starts.append(len(self.targets))

    def add(self, referents: Iterable[object]) -> None:
        for item in referents:
            number = self.number_of(item)
            if number >= 0:
                self.targets.append(number)

    def add_contents(self, item: object) -> None:
        found = self.contents(item)
        if isinstance(found, int):
            self.bytes_of_array[id(item)] = found
        else:
            self.add(found)

    def number_of(self, item: object) -> int:
        """The number of a candidate, which an array and some tables become by being met; -1 for all others."""
        number = self.number.get(id(item), -1)
        if number < 0 and (self.category(item) == Category.ARRAY or self.is_own_table(item)):
            number = self.number[id(item)] = len(self.objects) + len(self.arrays)
            self.arrays.append(item)
            self.marks.append(0)
        return number

    def is_own_table(self, item: object) -> bool:
        """A dict or tuple that the collector does not track, as it holds nothing but text, numbers and arrays, and that
        is heavy, or has an array which holds objects: a view of a tensor's memory."""
        if not self.least_bytes or not _is_plain_table(item) or id(item) in self.overrides:
            return False
        return self.bytes_inside(item) >= self.least_bytes or self.leads_on(item)

    def leads_on(self, item: object, depth: int = 0) -> bool:
        """Whether a table, or one in it, has an array that holds objects."""
        for referent in gc.get_referents(item):
            if _is_plain_table(referent):
                if depth < MOST_NESTED and self.leads_on(referent, depth + 1):
                    return True
            elif self.categories.of(type(referent)) == Category.ARRAY:
                told = self.contents(referent)
                if not isinstance(told, int) and told:
                    return True
        return False

    def weigh(self) -> None:
        """Fills `weights`, and marks what weighs enough."""
        arrays = self.bytes_of_arrays_alone()
        for number in range(len(self.marks)):
            weight = 0
            if self.category(self.object_at(number)) not in (Category.ROOT, Category.IGNORE):
                edges = range(self.starts[number], self.starts[number + 1])
                weight = sum(arrays.get(self.targets[edge], 0) for edge in edges)
                weight += self.own_bytes(self.object_at(number))
            self.weights.append(weight)
            if weight >= self.least_bytes:
                self.marks[number] = 1

    def own_bytes(self, item: object) -> int:
        """Host memory that an object alone holds, arrays not counted."""
        found = _table_bytes(item)
        for referent in gc.get_referents(item):
            if sys.getrefcount(referent) == _ALONE:
                found += _leaf_bytes(referent)
                if _is_plain_table(referent) and id(referent) not in self.number:
                    found += 0 if id(referent) in self.overrides else self.bytes_inside(referent)
        return found

    def bytes_inside(self, item: object) -> int:
        """What a dict or tuple that is not tracked holds, arrays included."""
        found = _table_bytes(item)
        for referent in gc.get_referents(item):
            if sys.getrefcount(referent) == _ALONE:
                found += _leaf_bytes(referent)
                if self.categories.of(type(referent)) == Category.ARRAY:
                    told = self.contents(referent)
                    found += told if isinstance(told, int) else 0
        return found

    def bytes_of_arrays_alone(self) -> dict[int, int]:
        """By number, the bytes of each array that is referred to once."""
        found, number = {}, 0
        for items in (self.objects, self.arrays):
            for item in items:
                if id(item) in self.bytes_of_array and sys.getrefcount(item) == _ALONE:
                    found[number] = self.bytes_of_array[id(item)]
                number += 1
        return found


def _is_plain_table(item: object) -> bool:
    return (type(item) is dict or type(item) is tuple) and not gc.is_tracked(item)


def _growing(items: list[object]) -> Iterator[object]:
    position = 0
    while position < len(items):
        yield items[position]
        position += 1


def _ancestry(starts: array[int], targets: array[int], marks: bytearray) -> bytearray:
    """1 for everything from which something marked can be reached."""
    sources: dict[int, list[int]] = {}
    for source in range(len(marks)):
        for edge in range(starts[source], starts[source + 1]):
            sources.setdefault(targets[edge], []).append(source)
    todo = [number for number, mark in enumerate(marks) if mark]
    while todo:
        for source in sources.get(todo.pop(), ()):
            if not marks[source]:
                marks[source] = 1
                todo.append(source)
    return marks


def _edges_between(order: list[int], starts: array[int], targets: array[int]) -> tuple[array[int], array[int]]:
    node = {number: position for position, number in enumerate(order)}
    source, target = array("i"), array("i")
    for position, number in enumerate(order):
        for edge in range(starts[number], starts[number + 1]):
            if targets[edge] in node:
                source.append(position)
                target.append(node[targets[edge]])
    return source, target


_IMMORTAL = 1 << 29 if sys.version_info >= (3, 12) else sys.maxsize


def _reference_counts(nodes: list[object], listed: int) -> array[int]:
    """Counts without our own references; the first `listed` nodes are in the caller's list as well.

    A fresh object that only `nodes` holds tells how many of those there are in this version of Python.
    """
    nodes.append(object())
    counts = array("q", map(sys.getrefcount, nodes))
    nodes.pop()
    ours = counts.pop()
    for i, count in enumerate(counts):
        counts[i] = -1 if count >= _IMMORTAL else count - ours - (i < listed)
    return counts
