from __future__ import annotations

import collections
import functools
import sys

import numpy as np
import pytest
import torch

from capture.reading import Reading
from tenure.capture.heap.census import take_census
from tenure.capture.profile.op_watch import OpWatch
from tenure.model.heap import ReferenceKind as Kind
from tenure.model.heap import Role

pytestmark = pytest.mark.slow  # censuses of this whole process

KIB = 1024


class Holder:
    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


class Window(collections.deque[bytes]):
    pass


def rows_of(owner: object) -> list[tuple[Kind, str, str, int]]:
    """Kind, label, type and bytes of what the census says of the host memory of `owner`."""
    census = take_census(step=1, moment="request")
    node, host = Reading(census).node_of(owner), census.host
    return [
        (Kind(int(host.kind[row])), census.text(int(host.label[row])), census.text(int(host.type[row])), size)
        for row, size in enumerate(host.bytes.tolist())
        if host.owner[row] == node
    ]


def test_a_list_tells_what_its_elements_and_entries_take_together() -> None:
    frames = [bytes(10 * KIB) for _ in range(3)]

    assert rows_of(frames) == [(Kind.INDEX, "*", "bytes", 3 * (10 * KIB + 33) + 3 * 8)]


def test_a_list_of_many_small_things_weighs_as_well() -> None:
    scores = [number + 0.5 for number in range(1_000)]

    assert rows_of(scores) == [(Kind.INDEX, "*", "float", 1_000 * 32 + 1_000 * 8)]


def test_a_few_things_of_several_kinds_go_by_the_heaviest() -> None:
    args = (np.zeros(4 * KIB), 12)

    assert [(kind, label, held) for kind, label, held, _ in rows_of(args)] == [(Kind.INDEX, "*", "numpy.ndarray")]


def test_little_is_not_told_of() -> None:
    frames = [bytes(5 * KIB) for _ in range(3)]

    assert rows_of(frames) == []


def test_arrays_of_numbers_weigh_on_the_one_that_holds_them_and_views_do_not() -> None:
    arrays = [np.zeros(4 * KIB), np.zeros(2 * KIB)]
    views = [arrays[0][1:], np.frombuffer(bytes(64 * KIB)), torch.zeros(64 * KIB).numpy()]

    assert rows_of(arrays) == [(Kind.INDEX, "*", "numpy.ndarray", 16 * KIB + 2 * 8)]
    assert rows_of(views) == []


def test_large_attributes_are_told_by_name() -> None:
    holder = Holder(picture=np.zeros(4 * KIB), text="".join(["a"] * 20 * KIB), small=bytes(100))

    assert rows_of(holder.__dict__) == [
        (Kind.ITEM, "'picture'", "numpy.ndarray", 32 * KIB),
        (Kind.ITEM, "'text'", "str", 20 * KIB + sys.getsizeof("")),
    ]


def test_tables_deques_and_caches_are_told_as_a_whole() -> None:
    @functools.cache
    def load(number: int) -> bytes:
        return bytes(8 * KIB + number)

    table = {number: bytes(100) for number in range(1_000)}
    window = Window((bytes(9 * KIB), bytes(9 * KIB)))
    for number in range(3):
        load(number)

    kinds = [[row[:3] for row in rows_of(owner)] for owner in (table, window)]
    assert kinds == [[(Kind.ITEM, "*", "bytes")], [(Kind.INDEX, "*", "bytes")]]
    census = take_census(step=1, moment="request")
    assert 3 * (8 * KIB + 33) + 3 in [size - 3 * 24 for size in census.host.bytes.tolist()]


def test_an_array_that_shows_a_tensors_memory_holds_the_tensor() -> None:
    shown = [torch.zeros(256).numpy()]

    census = Reading(take_census(step=1, moment="request"))

    array = census.path((Kind.INDEX, "0"), start=census.node_of(shown))
    assert census.path((Kind.INDEX, "0"), (Kind.ATTRIBUTE, "base"), start=census.node_of(shown)) >= 0
    assert list(census.storages_below(array).values()) == [(1024, Role.OTHER)]


def test_tensors_and_their_storages_are_told_as_without_host_buffers() -> None:
    held = {"tensor": torch.zeros(256), "frames": [bytes(32 * KIB)]}

    census = Reading(take_census(step=1, moment="request"))

    assert list(census.storages_below(census.node_of(held)).values()) == [(1024, Role.OTHER)]
    assert {census.census.text(int(d)) for d in census.census.storages.device} <= {"cpu"}


def operation_names() -> list[str]:
    return [f"aten.operation_{number}.default" for number in range(20_000)]


def test_the_names_that_a_profiled_step_notes_are_nobodys() -> None:
    watch = OpWatch(seconds=1.0, is_busy=lambda: False)
    watch.names += operation_names()

    sizes = take_census(step=1, moment="request").host.bytes.tolist()
    watch.names.clear()

    assert max(sizes, default=0) < 20_000 * 50 <= rows_of(operation_names())[0][3]
