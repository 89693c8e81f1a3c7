from __future__ import annotations

import pytest

from tenure.capture.steps.census_ranks import takes_censuses


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ("0", [0]),
        ("0,1", [0, 1]),
        ("2-4", [2, 3, 4]),
        ("0-:8", [0, 8]),
        ("1-7:3, 9", [1, 4, 7, 9]),
    ],
)
def test_lists_and_ranges_with_strides_name_ranks(ranks: str, expected: list[int]) -> None:
    assert [rank for rank in range(10) if takes_censuses(rank, ranks)] == expected


@pytest.mark.parametrize("ranks", ["", "all", "1,", "0-3:0", "-1", "every 8th", "0:8"])
def test_what_is_no_list_is_refused_whatever_the_rank(ranks: str) -> None:
    with pytest.raises(ValueError, match="is no rank nor a range of ranks"):
        takes_censuses(1, ranks)
