from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

STEPS = (1, 2, 3, 4, 6, 8, 13, 16)
MODEL = "main.net -> __main__.Net -> ._parameters dict -> ['w'] parameter 1MiB\n"


@pytest.mark.parametrize(
    ("key", "counts_up", "rises"),
    [
        (lambda n: n, True, None),
        (lambda n: 5 * n, False, True),
        (lambda n: f"'step {10 * n}/loss'", False, True),
        (lambda n: f"('{'ab'[n % 2]}', {n // 2})", False, True),
        (lambda n: 37 * n % 191, False, None),
        (lambda n: f"({64 + 37 * n % 191}, 64)", False, None),
        (lambda n: f"'{'abcdefghijklmnop'[n]}'", False, None),
    ],
    ids=["each step", "every five steps", "in a text", "by turns", "lengths", "shapes", "words"],
)
def test_keys_that_rise_as_numbers_of_steps_do_are_told_apart(key: object, counts_up: bool, rises: bool | None) -> None:
    assert callable(key)
    table = "main.log -> __main__.Log -> .outputs dict#d length={step} -> "

    def after(step: int) -> str:
        return MODEL + "".join(table.format(step=step) + f"[{key(n)}] tensor#t{n} 64KiB\n" for n in range(step))

    (found,) = find_suspects([census(after(step), step=step) for step in STEPS])

    assert (found.facts["keys_count_up"], found.facts.get("keys_rise")) == (counts_up, rises)
