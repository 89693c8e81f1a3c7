# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.growth.evaluation_growth import find_growing_in_evaluations
from tenure.model.heap import Census
from tenure.rules.outputs_kept_with_graph import check_suspect as outputs_kept_with_graph
from tenure.rules.tensors_collected import check_suspect as tensors_collected
from tenure.rules.unexplained_growth import check_suspect as unexplained_growth

CALLS = (4, 6, 8, 12, 16, 24, 32)
MODEL = "main.model -> __main__.Net#net -> ._modules dict -> ['fc'] torch.nn.Linear#fc -> ._parameters dict -> ['weight'] parameter#weight 1MiB\n"
COLLECTED = "Loop.evaluate(loop.py:20).outputs -> list -> [*{call}] tensor 256KiB activation"
WITH_GRAPHS = COLLECTED + " -> .grad_fn AddmmBackward0 -> .saved tensor 64KiB activation"
SWOLLEN = (
    "Loop.evaluate(loop.py:20).container -> loop.Container#container -> .tensors tensor#all{call} {kib}KiB activation"
)
FEW = "Loop.evaluate(loop.py:20).losses -> list -> [*{call}] tensor 4B activation"
SAME = "Loop.evaluate(loop.py:20).outputs -> list -> [*8] tensor 256KiB activation"


def evaluation(text: str, step: int = 50) -> tuple[Census, ...]:
    return tuple(
        census(MODEL + text.format(call=call, kib=256 * call), step=step, moment=f"evaluation-{call}") for call in CALLS
    )


@pytest.mark.parametrize(
    ("text", "holder", "per_call"),
    [
        (COLLECTED, "outputs[*]", 256 << 10),
        (WITH_GRAPHS, "outputs[*]", 320 << 10),
        (SWOLLEN, "container.tensors", 256 << 10),
    ],
)
def test_what_an_evaluation_piles_up_is_told_per_call_of_the_model(text: str, holder: str, per_call: int) -> None:
    (suspect,) = find_growing_in_evaluations([evaluation(text)])

    assert (suspect.symptom, suspect.holder.expression) == ("sawtooth", holder)
    assert (suspect.facts["bytes_per_call"], suspect.facts["calls"]) == (per_call, 32)
    assert (suspect.first_step, suspect.last_step, suspect.growth_bytes_per_step) == (50, 50, None)


CACHE = (
    "Loop.evaluate(loop.py:20).cache -> loop.Cache#cache -> .keys list#keys -> [{n}] tensor#k{n} {{kib}}KiB activation"
)
OF_TWO_LAYERS = "\n".join(CACHE.format(n=n) for n in range(2))


@pytest.mark.parametrize(
    ("text", "sizes", "told"),
    [
        (SWOLLEN, (1024, 1536, 2048), ["container.tensors"]),
        (SWOLLEN, (1024, 1100, 2048), []),
        (SWOLLEN, (1024, 1536), []),
        (OF_TWO_LAYERS, (1024, 1536, 2048), []),
    ],
    ids=["the same with each call", "now more, now less", "two calls", "a cache of each layer"],
)
def test_a_tensor_that_swells_by_the_same_with_each_of_few_calls_is_told(
    text: str, sizes: tuple[int, ...], told: list[str]
) -> None:
    short = tuple(
        census(MODEL + text.format(call=call, kib=kib), step=20, moment=f"evaluation-{call}")
        for call, kib in zip(CALLS, sizes, strict=False)
    )
    assert [suspect.holder.expression for suspect in find_growing_in_evaluations([short])] == told


@pytest.mark.parametrize("text", [SAME, FEW])
def test_what_stays_or_is_little_is_not_told(text: str) -> None:
    assert find_growing_in_evaluations([evaluation(text)]) == ()


def test_of_several_evaluations_the_last_that_shows_anything_is_told() -> None:
    phases = [evaluation(COLLECTED, 20), evaluation(COLLECTED, 40), evaluation(SAME, 60)]

    assert [suspect.last_step for suspect in find_growing_in_evaluations(phases)] == [40]


def test_after_the_last_step_calls_of_the_model_go_on_to_the_end() -> None:
    phases = [evaluation(SAME, 20), evaluation(COLLECTED, 50)]

    (later,), (last,) = (find_growing_in_evaluations(phases, last_step=step) for step in (80, 50))

    assert ["no_step_after" in each.facts for each in (later, last)] == [False, True]
    finding = tensors_collected(last)
    assert finding is not None
    assert (finding.confidence, finding.message) == (
        "possible",
        "`outputs[*]` gains memory with every call of the model that trains nothing: 256.00 KiB per call of the model "
        "after the last step, 50.",
    )


def test_outputs_with_graphs_are_likely_a_mistake_and_without_them_possibly_one() -> None:
    (with_graphs,) = find_growing_in_evaluations([evaluation(WITH_GRAPHS)])
    (collected,) = find_growing_in_evaluations([evaluation(COLLECTED)])
    (swollen,) = find_growing_in_evaluations([evaluation(SWOLLEN)])
    found = [outputs_kept_with_graph(with_graphs), *map(tensors_collected, (collected, swollen))]

    assert [(each.rule, each.confidence) for each in found if each] == [
        ("TN107", "likely"),
        ("TN202", "possible"),
        ("TN202", "possible"),
    ]
    assert found[1] is not None
    assert found[1].message == (
        "`outputs[*]` gains memory with every batch that is evaluated: 256.00 KiB per call of the model, until the "
        "evaluation after step 50 ends."
    )
    assert unexplained_growth(collected) is not None


def test_of_what_no_name_holds_the_running_functions_are_kept() -> None:
    unseen = "unseen -> dict#built -> [*{call}] tensor 256KiB activation\nassess(scoring.py:33).net -> main.Net#net\n"
    text = unseen + "lib:torch.fit(loop.py:7).model -> main.Net#net"

    (suspect,) = find_growing_in_evaluations([evaluation(text)])

    assert (suspect.holder.kind, suspect.facts["running"]) == ("unknown", (("scoring.py", 33, "assess"),))
