"""Looks through a pickle before it is loaded: that it names nothing, and that loading it takes no more than its size.

An unpickler that resolves no names is not bounded by that alone: nine bytes that put something at place 2**28 of the
memo make CPython take 4 GB. The scan runs at the speed of the regular expression engine: places of instructions whose
length is fixed are passed over in runs.
"""

from __future__ import annotations

import pickletools
import re
from functools import lru_cache
from itertools import islice

from tenure.errors import SnapshotError

_SIZE_BYTES = {ord("X"): 4, 0x8C: 1, 0x8D: 8, ord("T"): 4, ord("U"): 1, ord("B"): 4, ord("C"): 1, 0x8E: 8, 0x96: 8}
"""Instructions with a length before their content, by how many bytes it takes."""
_NAMES = {
    ord("c"): "GLOBAL",
    0x93: "STACK_GLOBAL",
    ord("i"): "INST",
    ord("o"): "OBJ",
    ord("R"): "REDUCE",
    ord("b"): "BUILD",
    0x81: "NEWOBJ",
    0x92: "NEWOBJ_EX",
    0x82: "EXT1",
    0x83: "EXT2",
    0x84: "EXT4",
    ord("P"): "PERSID",
    ord("Q"): "BINPERSID",
}
_TUPLES = frozenset((ord("t"), 0x85, 0x86, 0x87))
_SHARED = {ord("2"): "DUP", 0x8F: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET"}
_LINES = frozenset(b"FILSVpg")
"""Instructions of protocol 0, whose argument is a line of text."""
_LONGEST_LINE = 4300
_LONGEST_NUMBER = 64
_STOP = ord(".")
_FRAME = 0x95
_MAKING = frozenset(("EMPTY_LIST", "EMPTY_DICT", "EMPTY_TUPLE", "LIST", "DICT"))
_FREE_CONTAINERS = 10_000
_LEAST_PER_CONTAINER = 6
_LONG4 = 0x8B
_LONG_PUT = ord("r")
_RUN = 1000


def check_pickle(data: bytes | memoryview, name: str) -> None:
    """SnapshotError unless `data` is a whole pickle of numbers, texts, lists, tuples and dicts.

    Refused: names (code could run), text and numbers that are longer than the file, places in the memo beyond the
    file's size, tuples of other things than numbers (a tuple that holds one twice, forty deep, takes years to be the
    key of a dict), and what is cut off. Cost: about 30 ns per instruction of fixed length, half a microsecond for
    others.
    """
    size = len(data)
    fixed = _fixed_instructions(size)
    place = 0
    while place < size:
        run = fixed.match(data, place)
        if run is not None:
            place = run.end()
            continue
        code = data[place]
        if code == _STOP:
            return _check_containers(data, name)
        place = _after(data, place, code, name)
    raise SnapshotError(f"{name}: the pickle ends in the middle, after {size:,} bytes; was it copied whole?")


def _check_containers(data: bytes | memoryview, name: str) -> None:
    """SnapshotError where there are more lists and dicts than a snapshot of that size has: an empty one is a byte, and
    64 in memory; a snapshot has one to about thirteen bytes. Counted one by one where their signs are many."""
    most = _FREE_CONTAINERS + len(data) // _LEAST_PER_CONTAINER
    if sum(bytes(data).count(sign) for sign in (b"}", b"]", b")", b"(l", b"(d")) <= most:
        return
    made = (code for code, _, _ in pickletools.genops(bytes(data)) if code.name in _MAKING)
    if next(islice(made, most, None), None) is not None:
        raise SnapshotError(f"{name}: no memory snapshot: over {most:,} lists and dicts in {len(data):,} bytes")


def _after(data: bytes | memoryview, place: int, code: int, name: str) -> int:
    """Where the instruction at `place`, whose length is not fixed, ends."""
    size = len(data)
    if code in _NAMES:
        raise SnapshotError(
            f"{name}: the pickle calls for a name ({_NAMES[code]} at byte {place:,}); a memory snapshot has none, and "
            "nothing of it was run"
        )
    if code in _TUPLES:
        raise SnapshotError(f"{name}: the pickle has a tuple of other things than numbers (at byte {place:,})")
    if code in _SHARED:
        raise SnapshotError(f"{name}: a memory snapshot has no {_SHARED[code]} (at byte {place:,})")
    if code in _SIZE_BYTES:
        start = place + 1 + _SIZE_BYTES[code]
        end = start + int.from_bytes(data[place + 1 : start], "little")
    elif code == _FRAME:
        end = place + 9
        if place + 9 + int.from_bytes(data[place + 1 : end], "little") > size:
            end = size + 1
    elif code == _LONG4:
        length = int.from_bytes(data[place + 1 : place + 5], "little", signed=True)
        if not 0 <= length <= _LONGEST_NUMBER:
            raise SnapshotError(f"{name}: the pickle has a number of {length:,} bytes (at byte {place:,})")
        end = place + 5 + length
    elif code in _LINES:
        end = _end_of_line(data, place, code, name)
    elif code == _LONG_PUT:
        where = int.from_bytes(data[place + 1 : place + 5], "little")
        raise SnapshotError(f"{name}: the pickle claims {where:,} objects in {size:,} bytes (at byte {place:,})")
    else:
        raise SnapshotError(f"{name}: this is no pickle, or a damaged one: byte {place:,} is 0x{code:02x}")
    if end > size:
        raise SnapshotError(f"{name}: the pickle ends in the middle, after {size:,} bytes; was it copied whole?")
    return end


def _end_of_line(data: bytes | memoryview, place: int, code: int, name: str) -> int:
    line, ended, _ = bytes(data[place + 1 : place + 1 + _LONGEST_LINE]).partition(b"\n")
    if not ended:
        raise SnapshotError(f"{name}: this is no pickle, or a damaged one: a line without end at byte {place:,}")
    if code == ord("p") and not (line.isdigit() and int(line) <= len(data)):
        raise SnapshotError(f"{name}: the pickle puts an object at place {line[:20]!r} (at byte {place:,})")
    return place + 2 + len(line)


@lru_cache(maxsize=8)
def _fixed_instructions(size: int) -> re.Pattern[bytes]:
    """Instructions of a known length, many at once; LONG_BINPUT only where its place is below the file's size."""
    alone = rb"[\x5d\x7d\x29\x65\x75\x61\x73\x94\x30\x31\x64\x6c]"
    long = b"|".join(b"%b.{%d}" % (re.escape(bytes([length])), length) for length in range(_LONGEST_NUMBER // 4 + 1))
    number = rb"(?:\x4b.|\x8a(?:%b)|\x4a....|M..|[\x4e\x88\x89]|[IL][-0-9L]{0,32}\n)" % long
    parts = [
        rb"[\x68\x71\x80].",  # BINGET, BINPUT, PROTO
        rb"\x6a....",  # LONG_BINGET
        alone,
        rb"%b(?:\x85|%b(?:\x86|%b\x87))?" % (number, number, number),  # numbers, and tuples of numbers alone
        rb"\(" + number + rb"{0,8}t",
        rb"\(",
        rb"G.{8}",
        rb"r(?:%b)" % _below(size),
    ]
    return re.compile(b"(?:%b){1,%d}" % (b"|".join(parts), _RUN), re.DOTALL)


def _below(limit: int) -> bytes:
    """Four bytes, lowest first, whose number is below about `limit`: judged by the two highest that it has."""
    digits = min(limit, 2**32 - 1).to_bytes(4, "little")
    top = max((place for place in range(4) if digits[place]), default=0)
    zeros = rb"\x00" * (3 - top)
    lower = b"." * top + _byte_up_to(digits[top] - 1) + zeros if digits[top] else b""
    if top == 0:
        return b"." * top + _byte_up_to(digits[0]) + zeros
    equal = b"." * (top - 1) + _byte_up_to(digits[top - 1]) + re.escape(digits[top : top + 1]) + zeros
    return lower + b"|" + equal


def _byte_up_to(highest: int) -> bytes:
    return rb"[\x00-\x%02x]" % highest
