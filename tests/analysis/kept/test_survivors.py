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


def test_another_object_at_the_address_of_the_owner_has_not_let_the_module_go() -> None:
    fold = f"main.fold -> __main__.Fold#place -> .encoder __main__.Encoder#enc -> {ENCODER}\n"
    report = "main.report -> __main__.{}#place -> .table list -> [0] tensor 4B\n"

    assert suspects_of(fold + CACHED, report.format("Report") + CACHED) == []
    assert suspects_of(fold + CACHED, report.format("Fold") + CACHED) == [
        ("survivor", ["self.cache.encoder"], "encoder")
    ]


KEEPER = "main.keeper -> torch.hub.Keeper#k"
SGD = "torch.optim.sgd.SGD#sgd -> .param_groups list#groups -> [0] parameter#w 8MiB"
OWN = f"{KEEPER} -> .models list#models -> [0] __main__.Encoder#enc -> {ENCODER}\n"
OWN_OPTIMIZER = f"{KEEPER} -> .optimizers list#optimizers -> [0] {SGD}\n"


def test_what_a_library_keeps_with_its_optimizer_is_no_more_in_use_than_that_and_leaves_both_tables() -> None:
    kept = OWN + OWN_OPTIMIZER

    assert suspects_of(BOUND + kept, kept) == [
        ("survivor", ["keeper.models[0]", "keeper.optimizers[0]"], "encoder"),
    ]


@pytest.mark.parametrize(
    "named",
    [
        f"{TRAINER} -> .optimizer {SGD}\n",
        f"{KEEPER} -> .optimizer {SGD}\n",
        f"{TRAINER} -> .optimizers list#mine -> [0] {SGD}\n",
    ],
)
def test_what_an_optimizer_has_that_somebody_can_step_is_in_use(named: str) -> None:
    assert suspects_of(BOUND + OWN + named, OWN + named) == []


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


NAMED = f"train(t.py:9).encoder -> __main__.Encoder#enc -> {ENCODER}\n"
BUILT = f"build(t.py:3).encoder -> __main__.Encoder#enc -> {ENCODER}\n"
IN_TRAIN = "train(t.py:9).step -> list -> [0] tensor 4B\n"
CALLED = f"lib:Module._call_impl(module.py:3).self -> __main__.Encoder#enc -> {ENCODER}\n"


def survivors_of(*texts: str, called_at: tuple[int, ...] = (0,)) -> list[tuple[list[str], object]]:
    steps = (0, 1, 2, 3, 4, 6, 8)
    drawn = [
        DENOISER + IN_TRAIN + texts[min(at, len(texts) - 1)] + CALLED * (at in called_at) for at in range(len(steps))
    ]
    censuses = [
        census(text, step=step, moment="step-end" if step else "first-call-1")
        for text, step in zip(drawn, steps, strict=True)
    ]
    return [
        ([reference.expression for reference in suspect.cut], suspect.facts["released"])
        for suspect in find_suspects(censuses)
        if suspect.symptom == "survivor"
    ]


def test_a_variable_deleted_after_use_while_an_attribute_keeps_the_module() -> None:
    assert survivors_of(NAMED + CACHED, CACHED) == [(["self.cache.encoder"], "encoder")]


def test_an_item_of_a_table_whose_other_items_are_in_use_is_what_to_drop() -> None:
    table = f"train(t.py:9).parts -> dict -> ['teacher'] __main__.Encoder#enc -> {ENCODER}\n"
    student = (
        "train(t.py:9).parts -> dict -> ['student'] __main__.Denoiser#s -> ._parameters dict -> ['s'] parameter 1MiB\n"
    )

    assert survivors_of(NAMED + table + student, table + student) == [(["parts['teacher']"], "encoder")]


@pytest.mark.parametrize(
    ("before", "after", "called_at"),
    [
        (NAMED + CACHED, CACHED, ()),  # never called under that name
        (NAMED + CACHED, CACHED, (0, 5)),  # used again by its other name
        (NAMED + CACHED, CACHED.replace("#enc", "#enc called"), (0,)),  # called between the censuses that follow
        (NAMED + CACHED, CACHED.replace("#enc", "#enc inside"), (0,)),  # by another module that has it
        (BUILT + CACHED, CACHED, (0,)),  # the function that made it returned
        (NAMED + CACHED, NAMED + CACHED, (0,)),  # rests
    ],
)
def test_a_variable_less_is_no_release_where_the_module_is_or_may_be_used(
    before: str, after: str, called_at: tuple[int, ...]
) -> None:
    assert survivors_of(before, after, called_at=called_at) == []


def test_a_variable_that_goes_and_comes_with_every_step_is_no_release() -> None:
    assert survivors_of(NAMED + CACHED, CACHED, NAMED + CACHED, CACHED) == []


REGISTRY = f"registry.MODULES -> dict -> ['head'] __main__.Encoder#enc -> {ENCODER}\n"
BODY = "main(t.py:30).body -> __main__.Body#body -> ._parameters dict -> ['b'] parameter#b 1MiB\n"
PRETRAINING = """
pretrain(t.py:20).optimizer -> torch.optim.sgd.SGD#first -> .param_groups list -> [0] parameter#w
pretrain(t.py:20).optimizer -> torch.optim.sgd.SGD#first -> .param_groups list -> [1] parameter#b
"""
FINETUNING = "finetune(t.py:25).optimizer -> torch.optim.sgd.SGD#second -> .param_groups list -> [0] parameter#b\n"
HEAD = f"pretrain(t.py:20).head -> __main__.Encoder#enc -> {ENCODER}\n"


def test_a_head_left_behind_when_the_next_optimizer_took_only_the_body_over() -> None:
    before = BODY + REGISTRY + HEAD + PRETRAINING

    assert survivors_of(before, BODY + REGISTRY + FINETUNING) == [(["MODULES['head']"], "head")]


@pytest.mark.parametrize(
    "after",
    [
        BODY + REGISTRY,  # no training goes on: a trained model that waits for its evaluation
        BODY + REGISTRY + FINETUNING + f"main(t.py:30).head -> __main__.Encoder#enc -> {ENCODER}\n",  # named elsewhere
        BODY + REGISTRY + FINETUNING + FINETUNING.replace("#b", "#w").replace("[0]", "[1]"),  # trained on
    ],
)
def test_modules_that_are_not_left_behind(after: str) -> None:
    assert survivors_of(BODY + REGISTRY + HEAD + PRETRAINING, after) == []


POOL = "main.pool -> __main__.Pool -> .voices dict -> "
OTHER = f"{POOL}['b'] __main__.Denoiser#b -> ._parameters dict -> ['b'] parameter 1MiB\n"
VOICE = f"{POOL}['a'] __main__.Encoder#enc -> {ENCODER}\n"
WRAPPER = "timing.WRAPPERS -> list -> [0] function name=wrapper -> <cell function> cell -> "
BY_METHOD = f"{WRAPPER}[0] method -> <self> __main__.Encoder#enc -> {ENCODER}\n"


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        (BY_METHOD, [("survivor", ["function"], "voices")]),
        ("", []),
        (BY_METHOD + f"main.best -> __main__.Encoder#enc -> {ENCODER}\n", []),
        (BY_METHOD + f"main.pool -> __main__.Pool -> .retired list -> [0] __main__.Encoder#enc -> {ENCODER}\n", []),
        (
            BY_METHOD
            + f"main.pool -> __main__.Pool -> .best list -> [0] tuple -> [1] __main__.Encoder#enc -> {ENCODER}\n",
            [],
        ),
    ],
)
def test_a_module_taken_out_of_a_collection_that_goes_on(kept: str, found: list[object]) -> None:
    assert suspects_of(VOICE + OTHER + BY_METHOD, OTHER + kept) == found


LISTED = f"train(t.py:9).towers -> list#towers -> [0] __main__.Encoder#enc -> {ENCODER}\n"
SECOND = "__main__.Second#two -> ._parameters dict -> ['v'] parameter#v 4MiB\n"
BOTH_LISTED = f"{LISTED}train(t.py:9).towers -> list#towers -> [1] {SECOND}"
BUILT_ONCE = f"registry.CACHE -> __main__.Registry -> .built dict#built -> ['a'] __main__.Encoder#enc -> {ENCODER}\n"
BOTH_BUILT = f"{BUILT_ONCE}registry.CACHE -> __main__.Registry -> .built dict#built -> ['b'] {SECOND}"
SECOND_CALLED = BOTH_BUILT.replace("#two", "#two called")


def test_a_list_of_modules_emptied_at_once_while_a_registry_has_them_is_one_release() -> None:
    before = BOTH_LISTED.replace("#two", "#two called") + BOTH_BUILT

    assert survivors_of(before, BOTH_BUILT) == [(["CACHE"], "towers")]


@pytest.mark.parametrize(
    "after",
    [
        BOTH_LISTED + BOTH_BUILT,  # rests in its list
        BOTH_BUILT + f"train(t.py:9).towers -> list#other -> [0] {SECOND}",  # one taken out
        BOTH_BUILT + f"train(t.py:9).last -> {SECOND}",  # one goes on by name
        BOTH_BUILT + f"train(t.py:9).all -> list#all -> [0] __main__.Encoder#enc -> {ENCODER}\n"
        f"train(t.py:9).all -> list#all -> [1] {SECOND}",  # another variable of the function has them
        SECOND_CALLED,  # one is called later
    ],
)
def test_a_list_of_modules_that_are_or_may_be_used_was_not_emptied(after: str) -> None:
    before = BOTH_LISTED.replace("#two", "#two called") + BOTH_BUILT

    assert survivors_of(before, after) == []


def test_a_list_that_went_with_its_function_or_comes_again_says_nothing() -> None:
    elsewhere = BOTH_LISTED.replace("train(t.py:9)", "prepare(t.py:3)").replace("#two", "#two called") + BOTH_BUILT
    here = BOTH_LISTED.replace("#two", "#two called") + BOTH_BUILT

    assert survivors_of(elsewhere, BOTH_BUILT) == []
    assert survivors_of(here, BOTH_BUILT, BOTH_BUILT, BOTH_LISTED + BOTH_BUILT, BOTH_BUILT) == []


MEMORY = "._parameters dict -> ['w'] parameter at=here 8MiB serial=3"
HAS = f"{TRAINER} -> .encoder __main__.Encoder#enc -> {MEMORY}\n"


@pytest.mark.parametrize(
    ("at_the_address", "found"),
    [
        ("tensor at=here 8MiB serial=3", ["self.row"]),
        ("tensor at=there 8MiB serial=3 view=1024", ["self.row"]),  # a row of the weight, whose tensor is gone
        ("tensor at=here 8MiB serial=9", None),  # what came to the address after it
    ],
)
def test_a_weight_lives_on_in_its_memory_and_not_in_what_came_to_its_address(
    at_the_address: str, found: list[str] | None
) -> None:
    after = f"{TRAINER} -> .row {at_the_address}\n"

    assert suspects_of(HAS, after) == ([("survivor", found, "encoder")] if found else [])


def test_a_model_of_another_class_at_the_address_is_not_the_one_that_was_let_go() -> None:
    other = "main.student -> __main__.Student#enc -> ._parameters dict -> ['s'] parameter#s 2MiB\n"

    assert suspects_of(HAS, f"{TRAINER} -> .row tensor at=there 8MiB serial=3\n{other}") == [
        ("survivor", ["self.row"], "encoder")
    ]


STAGE = "main(t.py:9).stage -> __main__.Stage#stage"


def test_an_object_whose_own_attribute_was_let_go_stays_and_drops_the_other_one() -> None:
    kept = f"{STAGE} -> .stages tuple -> [0] __main__.Encoder#enc -> {ENCODER}\n"

    assert suspects_of(f"{STAGE} -> .encoder __main__.Encoder#enc -> {ENCODER}\n{kept}", kept) == [
        ("survivor", ["stage.stages"], "encoder")
    ]


def test_a_function_that_closes_over_the_module_goes_by_the_attribute_that_has_it() -> None:
    kept = f"{STAGE} -> .embed function#f name=embed -> <cell encoder> __main__.Encoder#enc -> {ENCODER}\n"

    assert suspects_of(f"{STAGE} -> .encoder __main__.Encoder#enc -> {ENCODER}\n{kept}", kept) == [
        ("survivor", ["stage.embed"], "encoder")
    ]


def test_of_a_variable_and_an_attribute_the_attribute_is_told_and_both_are_dropped() -> None:
    variable = "main(t.py:2).encoder -> __main__.Encoder#enc\n"
    censuses = [census(DENOISER + BOUND + CACHED + variable, step=step) for step in (1, 2, 3)]
    censuses += [census(DENOISER + CACHED + variable, step=step) for step in (4, 6, 8)]

    (found,) = find_suspects(censuses)

    assert (found.holder.expression, {each.expression for each in found.cut}) == (
        "self.cache.encoder",
        {"self.cache.encoder", "encoder"},
    )
