# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

ENCODER = "._parameters dict -> ['w'] parameter#w 8MiB"
TRAINER = "Trainer.fit(t.py:9).self -> __main__.Trainer#trainer"
DENOISER = f"{TRAINER} -> .denoiser __main__.Denoiser -> ._parameters dict -> ['d'] parameter 1MiB\n"
BOUND = f"{TRAINER} -> .encoder __main__.Encoder#enc -> {ENCODER}\n"
CACHED = f"{TRAINER} -> .cache __main__.Cache -> .encoder __main__.Encoder#enc -> {ENCODER}\n"


def suspects_of(before: str, after: str) -> list[tuple[str, list[str], object]]:
    censuses = [census(DENOISER + before, step=step) for step in (1, 2, 3)]
    censuses += [census(DENOISER + after, step=step) for step in (4, 6, 8)]
    return [
        (suspect.symptom, [reference.expression for reference in suspect.cut], suspect.facts["released"])
        for suspect in find_suspects(censuses)
    ]


def test_an_attribute_set_to_none_while_another_object_keeps_the_module() -> None:
    assert suspects_of(BOUND + CACHED, CACHED) == [("survivor", ["self.cache.encoder"], "encoder")]


def test_all_remaining_names_are_in_the_cut() -> None:
    kept = CACHED + f"{TRAINER} -> .blocks list -> [0] __main__.Block -> {ENCODER}\n"

    assert suspects_of(BOUND + kept, kept) == [("survivor", ["self.cache.encoder", "self.blocks"], "encoder")]


def test_parameters_that_only_a_kept_graph_holds() -> None:
    graph = "main.outputs -> list -> [0] tensor 4B -> .grad_fn MmBackward0 -> .next AccumulateGrad -> .next parameter#w 8MiB"

    assert suspects_of(BOUND + graph, graph) == [("survivor", ["outputs"], "encoder")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BOUND, ""),  # freed
        (BOUND, f"{TRAINER} -> .wrapped __main__.Encoder#enc -> {ENCODER}"),  # moved
        (
            BOUND,
            f"{TRAINER} -> .encoder __main__.Wrapper -> ._modules dict -> ['m'] __main__.Encoder#enc -> {ENCODER}",
        ),  # wrapped
        (f"main.enc -> __main__.Encoder#enc -> {ENCODER}\n" + CACHED, CACHED),  # a variable less, a name remains
        (
            BOUND + f"main.optimizer -> torch.optim.adam.Adam -> .param_groups list -> [0] parameter#w\n{CACHED}",
            CACHED + "main.optimizer -> torch.optim.adam.Adam -> .param_groups list -> [0] parameter#w",
        ),  # still trained
    ],
)
def test_modules_in_use_or_gone_are_no_survivors(before: str, after: str) -> None:
    assert suspects_of(before, after) == []
