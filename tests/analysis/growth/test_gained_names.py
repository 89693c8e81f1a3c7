"""Dicts that are told by their keys in some censuses and by elements in others."""

from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MIB = 1 << 20


def history(num_keys: int, step: int) -> str:
    losses = f"main.history -> dict#h length={num_keys} -> ['loss'] list#l -> [*{step}] tensor 1MiB\n"
    others = (
        f"main.history -> dict#h -> ['{chr(97 + at)}'] list#m{at} -> [0] tensor 4B\n" for at in range(num_keys - 1)
    )
    return losses + "".join(others)


@pytest.mark.parametrize("at", [5, 20, 40, 60, 99])
def test_a_list_grows_on_where_its_dict_gets_the_key_that_makes_it_large(at: int) -> None:
    """As a history whose validation adds two metrics."""
    (found,) = find_suspects([census(history(14 if step < at else 17, step), step=step) for step in STEPS])

    assert (found.symptom, found.first_step, found.last_step) == ("growth", 1, 64)
    assert found.growth_bytes_per_step == pytest.approx(MIB, rel=0.01)
