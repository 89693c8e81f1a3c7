"""What of its own host memory an object holds by which name."""

from __future__ import annotations

import collections
import functools
import itertools
import sys
from collections.abc import Iterator
from typing import Any

from tenure.capture.heap import labels
from tenure.capture.heap.descriptions import type_name
from tenure.capture.heap.heapwalk import filled_places, is_filled
from tenure.capture.heap.kinds import array_contents, is_array
from tenure.model.heap import ReferenceKind

LEAST_BYTES = 16 * 1024
"""An object that alone holds so much host memory is told of, and so is a single buffer among its attributes."""
MANY_ENTRIES = 256
"""A dict of more entries is a table, not a set of names."""
_TEXTS = frozenset(map(id, (str, bytes, bytearray)))

HostBuffer = tuple[ReferenceKind, str, str, int]
"""Kind and label of the reference, type of what it leads to (of many, the heaviest of the newest), bytes."""
_NEWEST = 8


def find_host_buffers(item: Any, num_bytes: int) -> Iterator[HostBuffer]:
    """Where the `num_bytes` that `item` alone holds lie: by name where single ones weigh enough, else all together."""
    rest = num_bytes
    if not issubclass(type(item), (list, tuple, set, frozenset, collections.deque)) and not _is_table(item):
        for value, kind, label in labels.named_referents(item):
            size = _size_of(value)
            if LEAST_BYTES <= size <= rest:
                rest -= size
                yield kind, label, type_name(type(value)), size
    if rest >= LEAST_BYTES:
        yield _kind_of_elements(item), "*", type_name(type(_heaviest(item))), rest


def _is_table(item: Any) -> bool:
    return issubclass(type(item), dict) and dict.__len__(item) > MANY_ENTRIES


def _size_of(value: object) -> int:
    if id(type(value)) in _TEXTS:
        return sys.getsizeof(value)
    found = array_contents(value) if is_array(value) else 0
    return found if isinstance(found, int) else 0


def _kind_of_elements(item: Any) -> ReferenceKind:
    if issubclass(type(item), dict):
        return ReferenceKind.ITEM
    if issubclass(type(item), (set, frozenset)):
        return ReferenceKind.MEMBER
    if issubclass(type(item), functools._lru_cache_wrapper):
        return ReferenceKind.CACHED
    sequence = issubclass(type(item), (list, tuple, collections.deque)) or is_array(item)
    return ReferenceKind.INDEX if sequence else ReferenceKind.OTHER


def _heaviest(item: Any) -> object:
    """Of the newest elements the one with most bytes of its own, else the newest; `item` itself where it has none."""
    newest = _newest(item)
    return max(newest, key=_size_of, default=item)


def _newest(item: Any) -> list[object]:
    """The last few elements, the newest first, without running code of a subclass; of a set any."""
    if issubclass(type(item), dict):
        return list(itertools.islice(reversed(dict.values(item)), _NEWEST))
    if issubclass(type(item), (list, tuple)) and not is_filled(item):
        return filled_places(item)[-_NEWEST:][::-1]
    if issubclass(type(item), list):
        return list(list.__getitem__(item, slice(-_NEWEST, None)))[::-1]
    if issubclass(type(item), tuple):
        return list(tuple.__getitem__(item, slice(-_NEWEST, None)))[::-1]
    if issubclass(type(item), collections.deque):
        return list(itertools.islice(collections.deque.__reversed__(item), _NEWEST))
    if issubclass(type(item), (set, frozenset)):
        base = set if issubclass(type(item), set) else frozenset
        return list(itertools.islice(base.__iter__(item), _NEWEST))
    return []
