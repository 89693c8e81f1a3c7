"""Each rule of torch's allocator by a program of a few calls: what it reserves, worked out by hand from torch's source.

c10/cuda/CUDACachingAllocator.cpp: round_size, get_allocation_size, get_free_block, should_split, alloc_block,
release_available_cached_blocks, release_cached_blocks, garbage_collect_cached_blocks, try_allocate_expandable_block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tenure.allocator import native
from tenure.allocator.native import Played, native_play
from tenure.allocator.played import played_in_python
from tenure.allocator.requests import Kind, Requests
from tenure.allocator.settings import MIB, parse_settings

KIB = 1 << 10
POOLS = ((0, 0), (1, 0), (0, 7))


def ask(name: str, size: float, stream: int = 0, pool: int = 0) -> tuple[int, str, float, int, int]:
    return Kind.ALLOCATE, name, size, stream, pool


def free(name: str) -> tuple[int, str, float, int, int]:
    return Kind.FREE, name, 0, 0, 0


def back(pool: int = 0) -> tuple[int, str, float, int, int]:
    return Kind.GIVE_BACK, "", 0, 0, pool


@dataclass(frozen=True)
class Case:
    """Sizes are in MiB. `reserved` and `active` at their peaks; `limit` is what a fraction is taken of."""

    rule: str
    calls: list[tuple[int, str, float, int, int]]
    reserved: float
    active: float
    given: int
    settings: str = ""
    retries: int = 0
    refused: int = 0
    total: int | None = None
    limit: int | None = None


S20 = "max_split_size_mb:20"
GROWS = "expandable_segments:True"
COLLECTS = "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9"
BYTE = 1 / MIB

CASES = [
    # rounding and the sizes of segments
    Case("a byte is a block of 512", [ask("a", BYTE)], 2, 512 * BYTE, 1),
    Case("up to a mebibyte from the small pool", [ask("a", 1), ask("b", 1)], 2, 2, 1),
    Case("a byte more from the large one", [ask("a", 1 + BYTE)], 20, 1 + 512 * BYTE, 1),
    Case("rounded before the pool is chosen", [ask("a", 1 - BYTE)], 2, 1, 1),
    Case("below ten mebibytes a segment of twenty", [ask("a", 9.5), ask("b", 9.5)], 20, 20, 1),
    Case("from ten on one of its own", [ask("a", 10)], 10, 10, 1),
    Case("of a multiple of two", [ask("a", 10 + BYTE)], 12, 12 - 2 + 512 * BYTE, 1),
    Case("larger segments where they are set", [ask("a", 3), ask("b", 10)], 74 - 10, 13, 1, "large_segment_size_mb:64"),
    Case("parts of powers of two", [ask("a", 5)], 20, 6, 1, "roundup_power2_divisions:2"),
    Case("a power of two stays", [ask("a", 4)], 20, 4, 1, "roundup_power2_divisions:4"),
    Case("one part is none", [ask("a", 5)], 20, 5, 1, "roundup_power2_divisions:1"),
    Case("small ones by 512", [ask("a", 1500 * BYTE)], 2, 1536 * BYTE, 1, "roundup_power2_divisions:4"),
    Case("above 512 by parts by parts", [ask("a", 2049 * BYTE)], 2, 2560 * BYTE, 1, "roundup_power2_divisions:4"),
    Case("the first interval is for all below it", [ask("a", 1.2)], 20, 1.5, 1, "roundup_power2_divisions:[4:2,>:8]"),
    Case("and > for all above", [ask("a", 9)], 20, 9, 1, "roundup_power2_divisions:[4:2,>:8]"),
    Case("of eight parts", [ask("a", 9.5)], 10, 10, 1, "roundup_power2_divisions:[4:2,>:8]"),
    # which free block, and whether it is split
    Case(
        "the rest of a small block is split off", [ask("a", 1 - 512 * BYTE), ask("b", 512 * BYTE), ask("c", 1)], 2, 2, 1
    ),
    Case("a rest of a mebibyte is not", [ask("a", 11), free("a"), ask("b", 11), ask("c", 1.5)], 32, 13.5, 2),
    Case("a larger one is", [ask("a", 12), free("a"), ask("b", 10), ask("c", 1.5)], 12, 12, 1),
    Case(
        "the smallest that fits",
        [ask("a", 14), ask("b", 12), free("a"), free("b"), ask("c", 11), ask("d", 13)],
        26,
        26,
        2,
    ),
    Case("neighbours are one when freed", [ask("a", 6), ask("b", 6), free("a"), free("b"), ask("c", 19)], 20, 20, 1),
    Case("not while one is in use", [ask("a", 6), ask("b", 6), free("a"), ask("c", 9)], 40, 15, 2),
    Case("streams share nothing", [ask("a", 3), free("a"), ask("b", 3, stream=5)], 40, 3, 2),
    Case("private pools neither", [ask("a", 3), free("a"), ask("b", 3, pool=1), ask("c", 3, pool=2)], 60, 6, 3),
    # what goes back
    Case("free segments go back", [ask("a", 30), free("a"), back(), ask("b", 30)], 30, 30, 2),
    Case("not those with a block in use", [ask("a", 3), ask("b", 3), free("a"), back(), ask("c", 3)], 20, 6, 1),
    Case("nor those of private pools", [ask("a", 3, pool=1), free("a"), back(), ask("b", 3, pool=1)], 20, 3, 1),
    Case("but for one nobody uses", [ask("a", 3, pool=1), free("a"), back(1), ask("b", 3, pool=1)], 20, 3, 2),
    Case("a full device makes it try again", [ask("a", 30), free("a"), ask("b", 36)], 36, 36, 2, retries=1, total=40),
    Case("of all streams", [ask("a", 30, 1), free("a"), ask("b", 36)], 36, 36, 2, retries=1, total=40),
    Case("once", [ask("a", 3), ask("b", 30)], 20, 3, 1, retries=1, refused=1, total=40),
    Case(
        "private pools keep theirs",
        [ask("a", 30, pool=1), free("a"), ask("b", 36)],
        30,
        30,
        1,
        retries=1,
        refused=1,
        total=40,
    ),
    # a largest size to split
    Case("an oversized block serves nothing small", [ask("a", 30), free("a"), ask("b", 3)], 50, 30, 2, S20),
    Case("it is not split", [ask("a", 40), free("a"), ask("b", 30), ask("c", 3)], 60, 43, 2, S20),
    Case("and not wasted", [ask("a", 60), free("a"), ask("b", 30)], 90, 60, 2, S20),
    Case(
        "up to what is set", [ask("a", 60), free("a"), ask("b", 30)], 60, 60, 1, S20 + ",max_non_split_rounding_mb:40"
    ),
    Case("one that is large enough goes back first", [ask("a", 60), free("a"), ask("b", 30)], 60, 60, 2, S20, total=70),
    Case(
        "or several, the largest first",
        [ask("a", 30), ask("b", 40), free("a"), free("b"), ask("c", 65)],
        *(70, 70, 3, S20),
        total=70,
    ),
    Case(
        "as long as they are enough",
        [ask("a", 30), ask("b", 40), free("a"), ask("c", 65)],
        *(70, 70, 2, S20),
        retries=1,
        refused=1,
        total=100,
    ),
    Case("of this stream", [ask("a", 60, 1), free("a"), ask("b", 30)], 60, 60, 2, S20, retries=1, total=70),
    # a fraction, and collecting
    Case(
        "a fraction is kept",
        [ask("a", 30), ask("b", 12)],
        30,
        30,
        1,
        "per_process_memory_fraction:0.4",
        1,
        1,
        None,
        100,
    ),
    Case(
        "what was not taken for longest goes back first",
        [
            *(ask("a", 20), ask("b", 24), free("a")),
            *(call for number in range(5) for call in (ask(f"s{number}", 2, 1), free(f"s{number}"))),
            *(free("b"), ask("c", 30)),
        ],
        *(74, 44, 4, COLLECTS),
        limit=100,
    ),
    Case(
        "nothing is collected without a fraction",
        [ask("a", 40), free("a"), ask("b", 44)],
        *(84, 44, 2, "garbage_collection_threshold:0.5"),
        limit=100,
    ),
    Case("nothing below the threshold", [ask("a", 12), free("a"), ask("b", 14)], 26, 14, 2, COLLECTS, limit=100),
    Case(
        "above it before the device is asked", [ask("a", 50), free("a"), ask("b", 60)], 60, 60, 2, COLLECTS, limit=100
    ),
    # expandable segments
    Case("grows by pages of twenty", [ask("a", 15), ask("b", 15)], 40, 30, 2, GROWS),
    Case("the small pool by two", [ask("a", 1), ask("b", 1), ask("c", 1)], 4, 3, 2, GROWS),
    Case("by pages as large as segments", [ask("a", 15)], 32, 15, 1, GROWS + ",large_segment_size_mb:32"),
    Case("split to 512 bytes", [ask("a", 19), ask("b", 1 - 512 * BYTE), ask("c", 1 + 512 * BYTE)], 42, 21, 3, GROWS),
    Case("a segment for each stream", [ask("a", 3), ask("b", 3, stream=4)], 40, 6, 2, GROWS),
    Case("and each private pool", [ask("a", 3), ask("b", 3, pool=1)], 40, 6, 2, GROWS),
    Case("free pages go back", [ask("a", 20), ask("b", 20), free("a"), back(), ask("c", 30)], 60, 50, 3, GROWS),
    Case(
        "not those of which a part is in use",
        [ask("a", 15), ask("b", 15), free("a"), back(), ask("c", 15)],
        40,
        30,
        2,
        GROWS,
    ),
    Case(
        "the lowest pages come first", [ask("a", 20), ask("b", 20), free("a"), back(), ask("c", 20)], 40, 40, 3, GROWS
    ),
    Case(
        "a full device takes pages back and tries again",
        [ask("a", 30), free("a"), ask("b", 3, stream=4)],
        *(40, 30, 2, GROWS),
        retries=1,
        total=50,
    ),
    Case("and gives up", [ask("a", 30), free("a"), ask("b", 50)], 40, 30, 1, GROWS, retries=1, refused=1, total=50),
    Case(
        "with a largest size to split large holes serve nothing small (pytorch#123548)",
        [ask("a", 30), ask("b", 10), free("a"), ask("c", 3)],
        *(60, 40, 2, GROWS + "," + S20),
    ),
]


def requests(case: Case) -> Requests:
    names = {name: number for number, name in enumerate(dict.fromkeys(name for _, name, *_ in case.calls if name))}
    rows = [
        (kind, names.get(name, -1), round(size * MIB), stream, pool) for kind, name, size, stream, pool in case.calls
    ]
    kind, number, size, stream, pool = np.array(rows, dtype=np.int64).T
    return Requests(kind, number, size, stream, pool, POOLS, 0)


def expected(case: Case) -> Played:
    return Played(
        round(case.reserved * MIB), round(case.active * MIB), not case.refused, case.given, case.retries, case.refused
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_what_a_program_reserves(case: Case) -> None:
    total, limit = (None if size is None else size * MIB for size in (case.total, case.limit))
    settings = parse_settings(case.settings)

    assert played_in_python(requests(case), settings, total_bytes=total, limit_bytes=limit) == expected(case)
    if native._native is not None:
        found = native_play(requests(case), settings, None, total_bytes=total, limit_bytes=limit, error=None)
        assert found == expected(case)
