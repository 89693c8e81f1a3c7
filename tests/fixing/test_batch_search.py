from __future__ import annotations

from collections.abc import Callable

import pytest

from tenure.fixing.batch_search import MOST_TRIES, Largest, Tried, find_largest

LIMITS = [0, 999, 1064, 1500, 5_000, 30_000, 1_000_000, 3 << 20]
PEAKS: dict[str, Callable[[int], int]] = {
    "line": lambda size: 1000 + 64 * size,
    "large constant": lambda size: 3_000_000 + 13 * size,
    "large constant, not quite a line": lambda size: 3_000_000 + 13 * size + size * 7919 % 64 // 6,
    "steps of 512": lambda size: 1000 + (64 * size + 511) // 512 * 512,
    "blocks of 64": lambda size: 1000 + 64 * (size + 63 & -64),
    "square": lambda size: 1000 + size * size,
    "root": lambda size: 1000 + int(5000 * size**0.5),
    "jump": lambda size: 1000 + 64 * size + 20_000 * (size > 100),
    "plateau, then a line": lambda size: max(20_000, 90 * size),
    "line, then a plateau": lambda size: 1000 + 64 * min(size, 700),
    "flat": lambda size: 1000,
}


class Program:
    """A program with that peak, for which memory runs out above `room`, and which takes multiples of `unit` alone."""

    def __init__(self, peak_of: Callable[[int], int], room: int = 1 << 30, unit: int = 1) -> None:
        self.peak_of, self.room, self.unit = peak_of, room, unit
        self.sizes: list[int] = []

    def __call__(self, size: int) -> Tried:
        self.sizes.append(size)
        if size % self.unit:
            return Tried(failure="exit code 1: AssertionError", refused=True)
        return Tried(failure="out of memory") if size > self.room else Tried(self.peak_of(size))

    def best(self, limit: int, most: int) -> int:
        return max((size for size in range(1, min(most, self.room) + 1) if self.peak_of(size) <= limit), default=0)


@pytest.mark.parametrize("name", PEAKS)
@pytest.mark.parametrize("first", [1, 8, 32, 500])
@pytest.mark.parametrize("room", [1 << 30, 50, 300])
def test_the_answer_holds_the_largest_and_is_known_to_a_sixteenth_unless_the_tries_end_it(
    name: str, first: int, room: int
) -> None:
    for limit in LIMITS:
        bounded, free = (Program(PEAKS[name], room) for _ in range(2))

        found = find_largest(bounded, limit=limit, first=first, most=4096)
        exact = find_largest(free, limit=limit, first=first, most=4096, most_tries=24)

        best = bounded.best(limit, 4096)
        assert found.least <= best <= found.most
        assert len(bounded.sizes) == len(set(bounded.sizes)) <= MOST_TRIES == 8
        assert found.is_known or len(bounded.sizes) == MOST_TRIES
        assert (exact.is_known, exact.least <= best <= exact.most) == (True, True)
        assert exact.most - exact.least < max(1, exact.least // 16)
        assert (bounded.sizes, len(free.sizes)) == (free.sizes[:MOST_TRIES], len(set(free.sizes)))


def test_a_straight_line_takes_four_tries_and_three_where_the_first_is_known() -> None:
    program, again = Program(PEAKS["line"]), Program(PEAKS["line"])

    assert find_largest(program, limit=100_000, first=32) == Largest(1546, 1641, is_known=True, has_limit=True)
    assert find_largest(again, limit=100_000, first=32, known={32: Tried(3048)}).least == 1546
    assert (program.sizes, again.sizes) == ([32, 512, 1546, 1642], [512, 1546, 1642])


def test_two_peaks_that_are_nearly_the_same_lead_neither_far_away_nor_in_small_steps() -> None:
    almost = Program(lambda size: 3_145_100 + size // 32 + max(0, size - 300) * 2000)

    found = find_largest(almost, limit=3 << 20, first=32)

    assert found == Largest(289, 306, is_known=True, has_limit=True)
    assert almost.sizes == [32, 64, 1024, 68, 72, 272, 289, 307]


def test_a_peak_above_the_limit_says_how_far_back_the_next_try_goes() -> None:
    program = Program(PEAKS["line"])

    assert find_largest(program, limit=9_000, first=1000) == Largest(125, 129, is_known=True, has_limit=True)
    assert program.sizes == [1000, 138, 125, 130]


@pytest.mark.parametrize("unit", [8, 32])
def test_where_a_size_is_refused_multiples_of_the_first_are_tried(unit: int) -> None:
    program = Program(PEAKS["line"], unit=unit)

    assert find_largest(program, limit=100_000, first=32) == Largest(1536, 1631, is_known=True, has_limit=True)
    assert program.sizes == [32, 512, 1546, 1536, 1632]


def test_a_search_without_a_limit_ends_at_the_most_and_says_that_none_was_met() -> None:
    program = Program(PEAKS["flat"])

    assert find_largest(program, limit=2000, first=32) == Largest(1 << 20, 1 << 20, is_known=True, has_limit=False)
    assert program.sizes == [32, 64, 1024, 16384, 262144, 1048576]
