from __future__ import annotations

from collections.abc import Callable

import pytest

from tenure.fixing.batches import find_largest, given_size, without_option

PEAKS: dict[str, Callable[[int], int]] = {
    "line": lambda size: 1000 + 64 * size,
    "steps of 512": lambda size: 1000 + (64 * size + 511) // 512 * 512,
    "square": lambda size: 1000 + size * size,
    "jump": lambda size: 1000 + 64 * size + 20_000 * (size > 100),
    "flat": lambda size: 1000,
}


@pytest.mark.parametrize("name", PEAKS)
@pytest.mark.parametrize("limit", [0, 999, 1064, 1500, 5_000, 30_000, 1_000_000])
@pytest.mark.parametrize("first", [1, 8, 32])
def test_the_largest_that_fits_is_found_to_within_a_sixteenth(name: str, limit: int, first: int) -> None:
    tried: list[int] = []

    def peak_of(size: int) -> int:
        tried.append(size)
        return PEAKS[name](size)

    found = find_largest(peak_of, limit=limit, first=first, most=4096)

    best = max((size for size in range(1, 4097) if PEAKS[name](size) <= limit), default=0)
    assert best - max(1, best // 16) <= found <= best
    assert len(tried) == len(set(tried)) <= 24


def test_a_straight_line_takes_four_runs_and_a_size_that_does_not_run_ends_the_search_below_it() -> None:
    tried: list[int] = []

    def peak_of(size: int) -> int | None:
        tried.append(size)
        return 1000 + 64 * size

    assert (find_largest(peak_of, limit=100_000, first=32), len(tried)) == (1546, 4)
    assert find_largest(lambda size: None if size > 50 else size, limit=1000, first=16) in range(47, 51)


def test_the_option_is_found_and_taken_out_however_it_is_written() -> None:
    apart, joined = ["python", "t.py", "--b", "16", "--lr", "1"], ["python", "t.py", "--b=16", "--lr", "1"]

    assert [without_option(each, "--b") for each in (apart, joined)] == [["python", "t.py", "--lr", "1"]] * 2
    assert [given_size(each, "--b") for each in (apart, joined, ["t.py", "--b"], ["t.py", "--b", "auto"])] == [
        16,
        16,
        None,
        None,
    ]
