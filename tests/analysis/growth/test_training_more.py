# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census
from tenure.model.suspect import GROWS_WITH_MODEL

ROWS = ((1, 1), (2, 1), (3, 1), (4, 2), (6, 3), (8, 4), (12, 5), (16, 6))
HEAD = (
    "main(t.py:9).net -> __main__.Net#net -> ._modules dict -> ['heads'] torch.nn.ModuleList -> ._modules dict#heads"
    " -> ['{n}'] torch.nn.Linear#h{n} -> ._parameters dict -> ['w'] parameter#w{n} 1KiB\n"
)
ADAM = "main(t.py:9).opt -> torch.optim.adam.Adam#adam -> "
TRAINED = (
    f"{ADAM}.param_groups list#groups -> [{{n}}] dict#g{{n}} -> ['params'] list#l{{n}} -> [0] parameter#w{{n}} 1KiB\n"
    f"{ADAM}.state collections.defaultdict#state -> ['<Parameter>'] dict#s{{n}} -> ['exp_avg'] tensor#m{{n}} 1KiB state\n"
    f"{ADAM}.state collections.defaultdict#state -> <member> parameter#w{{n}} 1KiB\n"
)
ANCHOR = "main(t.py:9).anchors -> list#anchors -> [{n}] __main__.Anchor#a{n} -> .weights tensor#t{n} 64KiB\n"


def run(*, optimizer: str = TRAINED, anchors_per_step: bool = False) -> list[Census]:
    """A task every few steps: a head, which the optimizer gets, and an anchor."""

    def at(step: int, tasks: int) -> str:
        layers = "".join((HEAD + optimizer).format(n=n) for n in range(tasks))
        return layers + "".join(ANCHOR.format(n=n) for n in range(step if anchors_per_step else tasks))

    return [census(at(step, tasks), step=step) for step, tasks in ROWS]


@pytest.mark.parametrize(
    ("options", "with_model"),
    [({}, True), ({"anchors_per_step": True}, False), ({"optimizer": ""}, False)],
    ids=["one per head", "one per step", "heads that nothing trains"],
)
def test_what_comes_with_the_layers_that_a_model_gets_may_be_meant(
    options: dict[str, bool | str], with_model: bool
) -> None:
    found = {each.holder.expression: each for each in find_suspects(run(**options)) if each.symptom == "growth"}

    assert (GROWS_WITH_MODEL in found["anchors[*]"].facts) is with_model


WIDER = (
    "main(t.py:9).net -> __main__.Net#net called -> ._modules dict#inside -> ['head'] "
    "torch.nn.Linear#h{tasks} -> ._parameters dict#p{tasks} -> ['w'] parameter#w{tasks} {tasks}KiB\n"
)
"""A head that is replaced by a wider one with each task; the optimizer is made anew for it."""
STATE = "main(t.py:9).anchors -> list#anchors -> [{n}] __main__.Anchor#a{n} -> .weights tensor#t{n} 64KiB state\n"
COPIES = "main(t.py:9).anchors -> list#anchors -> [{n}] __main__.Anchor#a{n} -> .weights parameter#t{n} 64KiB\n"


@pytest.mark.parametrize(
    ("kept", "per_step", "with_model"),
    [(ANCHOR, False, True), (ANCHOR, True, False), (COPIES, False, False), (STATE, False, False)],
    ids=["one per task", "one per step", "weights of each task", "an optimizer's state of each task"],
)
def test_what_comes_with_a_head_that_gets_wider_may_be_meant(kept: str, per_step: bool, with_model: bool) -> None:
    def at(step: int, tasks: int) -> str:
        return WIDER.format(tasks=tasks) + "".join(kept.format(n=n) for n in range(step if per_step else tasks))

    censuses = [census(at(step, tasks), step=step) for step, tasks in ROWS]
    found = {each.holder.expression: each for each in find_suspects(censuses) if each.symptom == "growth"}

    assert (GROWS_WITH_MODEL in found["anchors[*]"].facts) is with_model
