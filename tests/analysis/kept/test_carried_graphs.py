# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

MODEL = "main.net -> __main__.Net -> ._parameters dict -> ['w'] parameter#w 1MiB\n"
ENDS, ENTRIES = (1, 2, 3, 4, 6, 8, 13, 16, 22, 32), (1, 2, 3, 4, 8, 13, 22)
GRAPH = "tensor#o{v}x* 4B at=o{v}x* -> .grad_fn MeanBackward0#s{v}x* at=s{v}x* -> .saved tensor#a{v}x* at=a{v}x* 1MiB activation"
PLAIN = "tensor#o{v}x* 1MiB at=o{v}x* activation"


@pytest.mark.parametrize(
    ("kept", "version", "facts"),
    [
        (GRAPH, lambda step: (step - 1) // 8, [{"outlasts_a_step": True}]),
        (GRAPH, lambda step: 1, [{"outlasts_a_step": True, "never_remade": True}]),
        (GRAPH, lambda step: step, [{}]),
        (PLAIN, lambda step: (step - 1) // 8, []),
        (PLAIN, lambda step: 1, []),
    ],
    ids=["graphs made anew", "the same graphs", "graphs of each step", "plain", "the same plain ones"],
)
def test_graphs_that_an_evaluation_leaves_are_told_with_how_long_they_last(
    kept: str, version: object, facts: list[dict[str, object]]
) -> None:
    """After steps 8, 16, 24, looked at when others have followed; those after step 8 are there at the end of step 16."""
    assert callable(version)
    text = MODEL + "main.counts -> list#c length=6 -> [*{n}] "
    censuses = [
        census((text + kept).format(n=6 * (step > 8), v=version(step)), step=step, moment=moment)
        for moment, steps in (("step-end", ENDS), ("forward-entry", ENTRIES))
        for step in steps
    ]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "peak"]

    told = ("outlasts_a_step", "never_remade")
    assert [{key: each.facts[key] for key in told if key in each.facts} for each in found] == facts


LAYER = "main.net -> __main__.Net -> ._modules dict -> ['act'] torch.nn.ReLU#act -> .output tensor#kept at=kept 1MiB"


@pytest.mark.parametrize(
    ("first", "expressions"), [(1, []), (3, []), (5, ["net.act.output"]), (9, ["net.act.output"]), (23, [])]
)
def test_what_was_left_once_on_a_layer_that_was_called_without_it_before_is_told(
    first: int, expressions: list[str]
) -> None:
    """What a layer keeps for itself it makes at its first calls."""
    censuses = [
        census(MODEL + (LAYER if step >= first else ""), step=step, moment=moment)
        for moment, steps in (("step-end", ENDS), ("forward-entry", ENTRIES))
        for step in steps
    ]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "peak"]

    assert [suspect.holder.expression for suspect in found] == expressions


WINDOW = (
    "fit(train.py:9).v -> tensor#v{step} at=v{step} 1MiB activation\n"
    "main.queue -> __main__.Queue -> ._rows collections.deque{bound} -> [0] tensor at=n{step} storage=v{step}"
)


@pytest.mark.parametrize(("bound", "expressions"), [(" bound=3 length=3", []), ("", ["v"])])
def test_what_a_window_keeps_as_its_newest_entry_is_not_told_by_the_variable_that_shares_it(
    bound: str, expressions: list[str]
) -> None:
    censuses = [
        census(MODEL + WINDOW.format(bound=bound, step=step), step=step, moment=moment)
        for moment, steps in (("step-end", ENDS), ("forward-entry", ENTRIES))
        for step in steps
    ]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "peak"]

    assert [suspect.holder.expression for suspect in found] == expressions
