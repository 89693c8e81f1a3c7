from __future__ import annotations

import pytest

from tenure.planning.checkpointed_blocks import fewest_that_fit


@pytest.mark.parametrize("num_blocks", [1, 2, 3, 12, 13])
def test_the_fewest_that_fit_are_found_in_few_runs(num_blocks: int) -> None:
    for needed in range(1, num_blocks + 1):
        ran: list[int] = []

        found = fewest_that_fit(num_blocks, lambda number: ran.append(number) or number, lambda row: row >= needed)

        assert found == (needed if needed < num_blocks else None)
        assert len(ran) <= (num_blocks - 1).bit_length()


def test_a_run_that_says_nothing_ends_the_search_with_what_is_known() -> None:
    assert fewest_that_fit(12, lambda number: number, lambda row: True if row == 6 else None) == 6
    assert fewest_that_fit(12, lambda number: number, lambda row: None) is None
