from __future__ import annotations

from collections.abc import Callable

import pytest

from planning.test_largest_size import run
from tenure.allocator.settings import parse_settings
from tenure.model.plan import MOST
from tenure.planning.size_model import Axis, SizeModel, model_of, sizes_of
from tenure.planning.size_search import largest_within

AXES = (Axis("--batch", (4, 8, 12)), Axis("--length", (30, 50, 90)))


def model(bytes_of: Callable[[int, int], int]) -> SizeModel:
    streams = [run(batch, [lambda _: 1000, lambda _, at=(batch, length): bytes_of(*at)])  # type: ignore[misc]
               for batch, length in sizes_of(AXES)]  # fmt: skip
    return model_of(AXES, streams, parse_settings(""), wanted="token budget")


@pytest.mark.parametrize(
    "bytes_of",
    [
        lambda batch, length: 7,
        lambda batch, length: 4 * length,
        lambda batch, length: 4 * batch * length * length + 12 * batch,
        lambda batch, length: 3 * batch * batch * length * length + length,
    ],
)
def test_bytes_follow_both_sizes_to_the_byte_far_beyond_those_that_ran(bytes_of: Callable[[int, int], int]) -> None:
    found = model(bytes_of)

    for batch, length in ((4, 30), (1, 1), (700, 1234), (20_000, 90)):
        assert found.bytes_at(batch, length).tolist() == [1000, bytes_of(batch, length)]


def test_an_axis_that_changes_nothing_is_seen() -> None:
    found = model(lambda batch, length: length)

    assert (found.changes_along(0), found.changes_along(1)) == (False, True)


@pytest.mark.parametrize("start", [1, 16, 100_000])
@pytest.mark.parametrize(
    ("needed", "limit", "largest"),
    [
        (lambda size: 10 + 3 * size, 310, 100),
        (lambda size: 10 + 3 * size, 309, 99),
        (lambda size: 7 + size * size, 1_000_000, 999),
        (lambda size: 20 * (1 + size // 13), 100, 64),
        (lambda size: 50 + size, 50, 0),
        (lambda size: size, 1 << 60, MOST),
    ],
)
def test_the_largest_that_fits_is_found_in_few_tries(
    needed: Callable[[int], int], limit: int, largest: int, start: int
) -> None:
    tried: list[int] = []

    def count(size: int) -> int:
        tried.append(size)
        return needed(size)

    assert largest_within(count, limit, start) == largest
    assert len(tried) == len(set(tried)) < 60
