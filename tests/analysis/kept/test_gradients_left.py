from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import OPTIMIZER_STOPPED, PART_WITH_GRADIENTS, PARTS_WITH_GRADIENTS, TRAINED_BEFORE, Suspect

TRAINER = "Trainer.fit(t.py:9).self -> __main__.Trainer"
BACKBONE = f"{TRAINER} -> .model __main__.Model -> ._modules dict -> ['backbone'] __main__.Backbone"
WEIGHT = f"{BACKBONE} -> ._parameters dict -> ['w'] parameter#w 8MiB"
HEAD = (
    f"{TRAINER} -> .model __main__.Model -> ._modules dict"
    " -> ['head'] __main__.Head -> ._parameters dict -> ['h'] parameter#h 1MiB\n"
)
OPTIMIZER = f"{TRAINER} -> .optimizer torch.optim.sgd.SGD -> .param_groups list -> [0] parameter#h\n"
TRAINED = HEAD + OPTIMIZER + "main.h -> parameter#h -> .grad tensor#hg 1MiB gradient\n"
LEFT = f"{WEIGHT} -> .grad tensor#g 8MiB gradient\n"
STEPS = (1, 2, 3, 4, 6, 8)


def gradients_of(*texts: str, moment: str = "forward-entry", steps: tuple[int, ...] = STEPS) -> list[Suspect]:
    """Suspects of a run with these censuses, the last one's again and again."""
    drawn = [texts[min(at, len(texts) - 1)] for at in range(len(steps))]
    censuses = [census(text, step=step, moment=moment) for text, step in zip(drawn, steps, strict=True)]
    return [suspect for suspect in find_suspects(censuses) if "gradients_of" in suspect.facts]


@pytest.mark.parametrize("moment", ["forward-entry", "step-end"])
def test_gradients_of_a_backbone_that_no_optimizer_has(moment: str) -> None:
    found = gradients_of(TRAINED + LEFT, moment=moment)

    assert [(each.holder.expression, each.holder.owner_type, each.retained_bytes) for each in found] == [
        ("self.model.backbone", "__main__.Model", 8 << 20)
    ]
    assert found[0].cut == (found[0].holder,)
    assert found[0].facts == {"gradients_of": "__main__.Backbone", "parameters_with_gradient": 1}
    assert (found[0].series.moment, found[0].bytes_by_role) == (moment, {"GRADIENT": 8 << 20})


@pytest.mark.parametrize(("kinds", "part"), [(("Fused", "Fused"), "__main__.Fused"), (("Fused", "Plain"), None)])
def test_where_a_part_of_a_module_alone_has_gradients_its_type_is_told(
    kinds: tuple[str, str], part: str | None
) -> None:
    layers = "".join(
        f"{BACKBONE} -> ._modules dict -> ['{at}'] __main__.{kind}#layer{at} -> ._parameters dict"
        f" -> ['w'] parameter#l{at} 1MiB -> .grad tensor 1MiB gradient\n"
        for at, kind in enumerate(kinds)
    )

    (found,) = gradients_of(f"{TRAINED}{WEIGHT}\n{layers}")

    assert (found.holder.name, found.facts.get(PART_WITH_GRADIENTS)) == ("backbone", part)


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("Down", "Mid", "Up"), [("model", 3, 3 << 20)]),
        (("Down", "Down", "Down"), [("backbone", None, 3 << 20)]),
        (("Down", "Up"), [("down", None, 1 << 20), ("up", None, 1 << 20)]),
    ],
)
def test_many_kinds_of_parts_among_trained_ones_are_told_by_their_model(
    kinds: tuple[str, ...], told: list[tuple[str, int | None, int]]
) -> None:
    """Each block's embedding is trained, its convolution is not."""
    listed = len(set(kinds)) == 1
    text = f"{TRAINED}{BACKBONE} -> ._parameters dict -> ['e'] parameter#e 4B\n"
    text += OPTIMIZER.replace("[0] parameter#h", "[1] parameter#e")
    for at, kind in enumerate(kinds):
        block = f"{BACKBONE} -> ._modules dict -> ['{at if listed else kind.lower()}'] __main__.{kind}#b{at}"
        text += f"{block} -> ._parameters dict -> ['w'] parameter#l{at} 1MiB -> .grad tensor 1MiB gradient\n"

    found = gradients_of(text)

    assert [(each.holder.name, each.facts.get(PARTS_WITH_GRADIENTS), each.retained_bytes) for each in found] == told


@pytest.mark.parametrize(("optimized", "told"), [("w", True), ("h", None)])
def test_gradients_of_a_phase_whose_optimizer_went_are_known_as_trained_before(
    optimized: str, told: bool | None
) -> None:
    before = f"{TRAINER} -> .warm_up torch.optim.sgd.SGD -> .param_groups list -> [0] parameter#{optimized}\n"

    found = gradients_of(TRAINED + LEFT + before, TRAINED + LEFT)

    assert [suspect.facts.get(TRAINED_BEFORE) for suspect in found] == [told]


def test_layers_of_one_list_are_told_together_and_a_single_parameter_by_its_name() -> None:
    layers = f"{BACKBONE} -> ._modules dict -> ['[*3]'] __main__.Layer"
    text = (
        HEAD + OPTIMIZER + f"{layers} -> ._parameters dict -> ['w'] parameter#w* 1MiB -> .grad tensor 1MiB gradient\n"
    )
    text += f"{BACKBONE} -> ._parameters dict -> ['scale'] parameter#h\n".replace("#h", "#s 4B")
    text += OPTIMIZER.replace("[0] parameter#h", "[1] parameter#s")
    alone = f"{TRAINER} -> .prompt parameter#p 2MiB -> .grad tensor 2MiB gradient\n"

    found = gradients_of(text + alone)

    assert [(each.holder.name, each.retained_bytes) for each in found] == [("backbone", 3 << 20), ("prompt", 2 << 20)]
    assert found[1].facts["gradients_of"] == "torch.nn.parameter.Parameter"


def test_where_the_second_half_has_one_census_the_one_before_it_has_to_have_them_too() -> None:
    few = (1, 2, 4, 16, 37)
    before = [TRAINED + WEIGHT] * 3

    left_early = gradients_of(*before, TRAINED + LEFT, steps=few)
    left_late = gradients_of(*before, TRAINED + WEIGHT, TRAINED + LEFT, steps=few)

    assert [each.holder.expression for each in left_early] == ["self.model.backbone"]
    assert left_late == []


SMALL = LEFT.replace("8MiB", "200KiB")
IN_OPTIMIZER = OPTIMIZER.replace("[0] parameter#h", "[1] parameter#w")


@pytest.mark.parametrize(
    "texts",
    [
        (TRAINED + LEFT + IN_OPTIMIZER,),
        (HEAD + LEFT,),  # no optimizer: updated by hand
        (TRAINED + LEFT, TRAINED + LEFT, TRAINED + LEFT, TRAINED + WEIGHT),  # let go after a phase
        tuple(TRAINED + LEFT.replace("#g", f"#g{at}") for at in range(6)),  # new ones each step
        (TRAINED + SMALL,),
        (TRAINED + LEFT + "main.data -> tensor 600MiB\n",),  # a trifle of what is alive
        (TRAINED + LEFT.replace(" gradient", ""),),
    ],
)
def test_gradients_that_are_used_pass_or_weigh_nothing(texts: tuple[str, ...]) -> None:
    assert gradients_of(*texts) == []


def test_a_parameter_that_no_name_leads_to_is_not_told() -> None:
    on_the_stack = "unseen -> parameter#p0 2MiB unseen=1 -> .grad tensor#pg 2MiB gradient\n"

    assert [each.holder.name for each in gradients_of(TRAINED + LEFT + on_the_stack)] == ["backbone"]


def test_gradients_left_in_a_training_after_many_calls_without_one() -> None:
    acting = [census(HEAD + WEIGHT + "\n", step=step, moment="forward-entry") for step in (1, 2, 4, 8, 600, 800, 1000)]
    training = [
        census(TRAINED + LEFT, step=step, moment=moment)
        for step in (1001, 1002, 1004, 1008)
        for moment in ("forward-entry", "step-end")
    ]

    found = [suspect for suspect in find_suspects(acting + training) if "gradients_of" in suspect.facts]

    assert [(each.holder.expression, each.retained_bytes) for each in found] == [("self.model.backbone", 8 << 20)]


def test_of_a_table_of_modules_the_entry_is_told() -> None:
    nets = "main(t.py:9).nets -> dict#nets"
    encoder = f"{nets} -> ['encoder'] __main__.Encoder -> ._parameters dict -> ['w'] parameter#w 8MiB\n"
    decoder = f"{nets} -> ['decoder'] __main__.Decoder -> ._parameters dict -> ['h'] parameter#h 1MiB\n"
    left = "main(t.py:9).w -> parameter#w -> .grad tensor#g 8MiB gradient\n"

    found = gradients_of(encoder + decoder + OPTIMIZER + left)

    assert [each.holder.expression for each in found] == ["nets['encoder']"]


def test_of_a_module_dict_the_entry_is_told() -> None:
    nets = f"{TRAINER} -> .nets torch.nn.modules.container.ModuleDict -> ._modules dict"
    encoder = f"{nets} -> ['encoder'] __main__.Encoder -> ._parameters dict -> ['w'] parameter#w 8MiB\n"
    decoder = f"{nets} -> ['decoder'] __main__.Decoder -> ._parameters dict -> ['h'] parameter#h 1MiB\n"

    found = gradients_of(encoder + decoder + OPTIMIZER + "main.w -> parameter#w -> .grad tensor#g 8MiB gradient\n")

    assert [each.holder.expression for each in found] == ["self.nets['encoder']"]


def optimizer_of(name: str, key: str, kind: str, version: int) -> str:
    """An optimizer with one parameter, of which version counters tell whether it steps: those of its state, or of the
    parameter where it has none."""
    made = f"{TRAINER} -> .{name} torch.optim.{kind} -> "
    found = f"{made}.param_groups list -> [0] parameter#{key}\n"
    if kind == "adam.Adam":
        found += (
            f"{made}.state collections.defaultdict -> ['<P>'] dict -> ['exp_avg'] tensor 1MiB state"
            f" serial={ord(key)} version={version}\n{made}.state collections.defaultdict -> <member> parameter#{key}\n"
        )
    return found


@pytest.mark.parametrize(
    ("kind", "until", "goes_on", "in_use", "told"),
    [
        ("adam.Adam", 6, True, True, True),
        ("sgd.SGD", 6, True, True, True),
        ("adam.Adam", 99, True, True, False),
        ("sgd.SGD", 99, True, True, False),
        ("sgd.SGD", 0, True, True, False),
        ("adam.Adam", 6, False, True, False),
        ("adam.Adam", 6, True, False, False),
    ],
    ids=["it stops", "without state", "it steps on", "so does one without state", "its steps raise no version",
         "none steps any more", "the module rests as well"],
)  # fmt: skip
def test_gradients_of_what_an_optimizer_has_that_steps_no_more(
    kind: str, until: int, goes_on: bool, in_use: bool, told: bool
) -> None:
    def drawn(step: int) -> str:
        version = min(step, until)
        raised = f" serial=9 version={version}" if kind == "sgd.SGD" else ""
        own = optimizer_of("first", "w", kind, version) + optimizer_of(
            "second", "h", "adam.Adam", step if goes_on else min(step, 6)
        )
        called = f"{BACKBONE} called\n" if in_use else ""
        return HEAD + called + f"{WEIGHT}{raised} -> .grad tensor#g 8MiB gradient\n" + own

    steps = (1, 2, 4, 6, 8, 12, 14, 16)
    censuses = [census(drawn(step), step=step, moment="step-end") for step in steps]
    found = [each for each in find_suspects(censuses) if "gradients_of" in each.facts]

    assert [(each.holder.expression, each.facts.get(OPTIMIZER_STOPPED)) for each in found] == [
        ("self.model.backbone", True)
    ] * told
