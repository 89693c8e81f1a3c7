from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census

STEPS = (1, 2, 3, 4, 6, 8, 13, 16, 22, 32, 44)
MODEL = "main.model -> __main__.Net -> ._parameters dict -> ['weight'] parameter 1MiB\n"
AT_END = "train.fit(train.py:9).batch -> Batch#b{step} -> .mel tensor#m{step} {kib}KiB"
INSIDE = "train.loss(train.py:3).batch -> Batch#b{step} -> .mel tensor#m{step} {kib}KiB input"
STEADY = "train.loss(train.py:3).batch -> Batch#b{step} -> .mel tensor#m{step} 8KiB input"


def run(entry: str) -> list[Census]:
    def at(text: str, step: int, moment: str) -> Census:
        return census(MODEL + text.format(step=step, kib=8 * (1 + step // 5)), step=step, moment=moment)

    return [at(AT_END, step, "step-end") for step in STEPS] + [at(entry, step, "forward-entry") for step in STEPS]


@pytest.mark.parametrize(("entry", "told"), [(INSIDE, []), (STEADY, ["growth"])], ids=["longer", "of one length"])
def test_a_batch_that_gets_longer_is_no_growth_though_the_forward_is_entered_by_another_function(
    entry: str, told: list[str]
) -> None:
    assert [suspect.symptom for suspect in find_suspects(run(entry))] == told
