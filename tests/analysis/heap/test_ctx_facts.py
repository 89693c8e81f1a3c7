from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

STEPS = (1, 2, 3, 4, 6, 8, 13, 16)
KEPT = "main.seen -> list#l length={step} -> [{n}] tensor#t{n} 4B -> .grad_fn SubBackward0#sub{n}{freed}"
ON_CTX = KEPT + " -> .next AligningBackward#node{n} -> .keep tensor#keep{n} 64KiB"
BESIDE = KEPT + " -> .saved tensor#saved{n} {saved}KiB activation"
WEIGHT = KEPT + " -> .next AligningBackward#node{n} -> .next AccumulateGrad#leaf -> .next tensor#w"


@pytest.mark.parametrize(
    ("freed", "saved", "left"),
    [(" freed", 0, True), (" freed", 6, True), (" freed", 8, None), ("", 0, None)],
    ids=["alone", "with a tenth", "with more", "before backward"],
)
def test_what_backward_left_is_on_ctx_where_that_alone_leads_to_nine_tenths_of_it(
    freed: str, saved: int, left: object
) -> None:
    lines = [KEPT, ON_CTX, WEIGHT, *([BESIDE] if saved else [])]

    def after(step: int) -> str:
        each = (line.format(step=step, n=n, freed=freed, saved=saved) for n in range(step) for line in lines)
        return "main.net -> __main__.Net -> ._parameters dict -> ['w'] tensor#w 9MiB parameter\n" + "\n".join(each)

    (found, *_) = find_suspects([census(after(step), step=step) for step in STEPS])

    assert {name: found.facts.get(name) for name in ("ctx_type", "ctx_attribute", "left_on_ctx")} == {
        "ctx_type": "AligningBackward",
        "ctx_attribute": "keep",
        "left_on_ctx": left,
    }
