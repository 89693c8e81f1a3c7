"""A pickle from a stranger runs nothing and takes no more memory than its size; a snapshot passes."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import SnapshotError
from tenure.store.pickle_scan import check_pickle

VALUES = {"numbers": [0, 255, 70_000, -1, 2**40, 2**64 - 1, 1.5], "text": "x" * 300, "rest": [None, True, (1, 2, 3, 4)]}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_numbers_texts_and_containers_pass_in_every_protocol(protocol: int) -> None:
    check_pickle(pickle.dumps(VALUES, protocol), "file")


class Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("exit 3",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_calls_for_a_name_is_refused(protocol: int) -> None:
    with pytest.raises(SnapshotError, match=r"the pickle calls for a name .* nothing of it was run"):
        check_pickle(pickle.dumps([1, Runs()], protocol), "file")


def test_places_in_the_memo_are_bounded_by_the_files_size() -> None:
    bomb = b"\x80\x04N" + b"r" + struct.pack("<I", 2**28) + b"."

    with pytest.raises(SnapshotError) as raised:
        check_pickle(bomb, "file")

    assert str(raised.value) == "file: the pickle claims 268,435,456 objects in 9 bytes (at byte 3)"


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\x80\x04X\xff\xff\xff\x7fabc.",
        b"\x80\x04\x8d" + b"\xff" * 8 + b".",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\x00\x00N.",
        b"\x80\x04]q\x00(K\x01",
        b"p99999999999\n.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"no pickle at all",
    ],
)
def test_what_is_cut_off_or_claims_too_much_is_refused(damaged: bytes) -> None:
    with pytest.raises(SnapshotError):
        check_pickle(damaged, "file")


def nested(depth: int) -> tuple[object, ...]:
    """A tuple that holds one twice, and so on: 2**depth when it is written out, or its hash computed."""
    held: tuple[object, ...] = (1, 2)
    for _ in range(depth):
        held = (held, held)
    return held


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [nested(60), ((1, 2),), (1, "a"), (1, 2, 3, [])])
def test_a_tuple_of_other_things_than_numbers_is_refused(protocol: int, value: object) -> None:
    with pytest.raises(SnapshotError, match="a tuple of other things than numbers"):
        check_pickle(pickle.dumps([0, value], protocol), "file")


@pytest.mark.parametrize("value", [(), (1,), (1, 2), (1, None, 3), (1, 2, 3, 4, 5), (2**40, -1), [(7, 0)] * 3])
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_tuples_of_numbers_pass(protocol: int, value: object) -> None:
    check_pickle(pickle.dumps([0, value, [value]], protocol), "file")


@pytest.mark.parametrize("data", [pickle.dumps({1, 2}), pickle.dumps(frozenset((1, 2))), b"\x80\x04]2."])
def test_sets_and_doubles_are_refused(data: bytes) -> None:
    with pytest.raises(SnapshotError, match="a memory snapshot has no"):
        check_pickle(data, "file")


@pytest.mark.parametrize("each", [b"]", b"}", b"(l", b"(d"])
def test_more_containers_than_a_snapshot_has_are_refused(each: bytes) -> None:
    with pytest.raises(SnapshotError, match=r"no memory snapshot: over .* lists and dicts in"):
        check_pickle(b"\x80\x04](" + each * 50_000 + b"e.", "file")


def test_what_only_looks_like_containers_passes() -> None:
    check_pickle(pickle.dumps(["]" * 100_000, [0x7D] * 50_000]), "file")


def test_the_memo_of_a_large_pickle_passes() -> None:
    many = [{"number": number} for number in range(70_000)]
    check_pickle(pickle.dumps(many, 2), "file")


@given(st.binary(max_size=200))
def test_any_bytes_pass_or_are_refused_in_one_line(data: bytes) -> None:
    told = ""
    try:
        check_pickle(data, "file")
    except SnapshotError as error:
        told = str(error)
    assert "\n" not in told


def test_mangled_pickles_that_pass_take_little_memory() -> None:
    chance = random.Random(0)
    whole = pickle.dumps(VALUES, 4)
    passed = []
    for _ in range(5_000):
        mangled = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            mangled[chance.randrange(len(mangled))] = chance.choice(b"rjhqpX\x8a\x94]}(.u\x00\xff\x10")
        try:
            check_pickle(bytes(mangled), "file")
        except SnapshotError:
            continue
        passed.append(bytes(mangled))

    peaks = [peak_of_loading(each) for each in passed]

    assert len(passed) > 100
    assert max(peaks) < 200_000  # of four hundred bytes; an unpickler that loads nothing takes 10,000


def peak_of_loading(data: bytes) -> int:
    tracemalloc.start()
    with contextlib.suppress(Exception):
        pickle.loads(data)  # the scan has seen that it names nothing
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
