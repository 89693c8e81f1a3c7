# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.heap.groups import Shapes, view_census
from tenure.analysis.kept.left_in_optimizers import find_left_in_optimizers
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census

STEPS = (1, 2, 3, 4, 6, 8)
NET = "main(t.py:9).net -> __main__.Net#net -> ._modules dict -> "
BODY = f"{NET}['body'] torch.nn.Linear#body -> ._parameters dict -> ['weight'] parameter#b 1MiB\n"
OLD = f"{NET}['head'] torch.nn.Linear#old -> ._parameters dict -> ['weight'] parameter#o 8MiB\n"
NEW = f"{NET}['head'] torch.nn.Linear#new -> ._parameters dict -> ['weight'] parameter#n 2MiB\n"
ADAM = "main(t.py:9).opt -> torch.optim.adam.Adam#adam -> "


def adam(*parameters: str) -> str:
    """An optimizer that has these parameters (`o 8MiB`) and state of the same size for each."""
    groups = f"{ADAM}.param_groups list -> [0] dict -> ['params'] list -> [{{at}}] parameter#{{name}} {{size}}\n"
    state = f"{ADAM}.state collections.defaultdict -> ['<Parameter>'] dict#s{{name}} -> ['exp_avg'] tensor#m{{name}} {{size}} state\n"
    key = f"{ADAM}.state collections.defaultdict -> <member> parameter#{{name}} {{size}}\n"
    pairs = [parameter.split() for parameter in parameters]
    return "".join((groups + state + key).format(at=at, name=name, size=size) for at, (name, size) in enumerate(pairs))


def censuses_of(before: str, *after: str, moment: str = "step-end") -> list[Census]:
    drawn = [before, before, before, *after, *([after[-1]] * (3 - len(after)))]
    return [
        census(text, step=step, moment="step-end" if step < 4 else moment)
        for text, step in zip(drawn, STEPS, strict=True)
    ]


BEFORE = BODY + OLD + adam("b 1MiB", "o 8MiB")


def test_a_replaced_head_stays_with_its_gradient_and_state_in_the_optimizer() -> None:
    left = BODY + NEW + adam("b 1MiB", "o 8MiB", "n 2MiB")
    gradient = "island -> parameter#o 8MiB -> .grad tensor 4MiB gradient\n"

    (suspect,) = find_suspects(censuses_of(BEFORE, left + gradient))

    assert (suspect.symptom, [reference.expression for reference in suspect.cut]) == ("survivor", ["opt"])
    assert suspect.facts == {"released": "head", "released_step": 4, "module": "torch.nn.Linear"}
    assert suspect.retained_bytes == (8 + 4 + 8) * 1024**2
    assert [held // 1024**2 for held in suspect.series.bytes] == [16, 16, 16, 20, 20, 20]


def test_of_an_optimizer_that_a_library_noted_the_entry_of_its_table_is_what_to_drop() -> None:
    noted = f"main(t.py:9).keeper -> torch.hub.Keeper#keeper -> .optimizers list -> [0] {ADAM.split(' -> ')[1]}\n"
    left = BODY + NEW + adam("b 1MiB", "o 8MiB", "n 2MiB").replace("main(t.py:9).opt", "unseen") + noted

    (suspect,) = find_suspects(censuses_of(BEFORE + noted, left))

    assert suspect.holder.expression == "keeper.optimizers[0]"
    assert suspect.cut == (suspect.holder,)


def test_a_parameter_that_was_replaced_in_its_layer() -> None:
    wider = f"{NET}['head'] torch.nn.Linear#old -> ._parameters dict -> ['weight'] parameter#n 16MiB\n"

    (suspect,) = find_suspects(censuses_of(BEFORE, BODY + wider + adam("b 1MiB", "o 8MiB")))

    assert (suspect.facts["released"], suspect.retained_bytes) == ("weight", 16 * 1024**2)


@pytest.mark.parametrize("owner", [f"{NET}['head']", "main(t.py:9).trainer -> __main__.Trainer#trainer -> .head"])
@pytest.mark.parametrize("replaced", [True, False])
def test_a_layer_of_any_object_that_was_replaced_or_taken_out(owner: str, *, replaced: bool) -> None:
    old, new = (text.replace(f"{NET}['head']", owner) for text in (OLD, NEW))
    after = BODY + (new if replaced else owner.replace("head", "scale") + " tensor 4B\n") + adam("b 1MiB", "o 8MiB")

    (suspect,) = find_suspects(censuses_of(BODY + old + adam("b 1MiB", "o 8MiB"), after))

    assert (suspect.symptom, suspect.facts["released"], suspect.holder.name) == ("survivor", "head", "opt")
    assert suspect.retained_bytes == 16 * 1024**2


@pytest.mark.parametrize(
    "after",
    [
        (BODY + NEW + adam("b 1MiB", "n 2MiB"),),  # a new optimizer, or its group was emptied
        (BODY + NEW + adam("b 1MiB", "o 8MiB"), BEFORE),  # put back
        (
            BODY + NEW + adam("b 1MiB", "o 8MiB")
            + "main(t.py:9).heads -> list -> [0] torch.nn.Linear#old -> ._parameters dict -> ['weight'] parameter#o 8MiB\n",
        ),  # rests in a list of heads
        (BODY + NEW + adam("b 1MiB", "o 8MiB") + "main(t.py:9).raw -> parameter#o 8MiB\n",),  # trained without a module
        (
            BODY + NEW + adam("b 1MiB", "o 8MiB")
            + "main(t.py:9).loss -> tensor 4B -> .grad_fn MmBackward0 -> .next AccumulateGrad -> .next parameter#o 8MiB\n",
        ),  # a graph uses it
    ],
)  # fmt: skip
def test_what_is_in_use_or_was_not_replaced_is_not_left_behind(after: tuple[str, ...]) -> None:
    assert find_suspects(censuses_of(BEFORE, *after)) == ()


@pytest.mark.parametrize("before", [BODY + adam("b 1MiB", "o 8MiB"), BODY + OLD + adam("b 1MiB", "m 8MiB")])
def test_parameters_that_no_module_ever_had_are_not_left_behind(before: str) -> None:
    after = BODY + NEW + before.removeprefix(BODY).removeprefix(OLD)

    assert find_suspects(censuses_of(before, after)) == ()


def test_other_tensors_in_a_module_while_it_is_called_replace_nothing() -> None:
    swapped = BODY + NEW + adam("b 1MiB", "o 8MiB")

    assert find_left_in_optimizers_of(swapped, moment="forward-entry") == 0
    assert find_left_in_optimizers_of(swapped, moment="step-end") == 1


def find_left_in_optimizers_of(after: str, *, moment: str) -> int:
    shapes = Shapes()
    return len(
        find_left_in_optimizers([view_census(each, shapes) for each in censuses_of(BEFORE, after, moment=moment)])
    )


def test_state_that_was_moved_to_the_new_parameter_is_in_use_and_the_old_one_alone_is_left() -> None:
    moved = (
        f"{ADAM}.param_groups list -> [0] dict -> ['params'] list -> [0] parameter#n 2MiB\n"
        f"{ADAM}.state collections.defaultdict -> ['<Parameter>'] dict#so -> ['exp_avg'] tensor#mo 8MiB state\n"
        f"{ADAM}.state collections.defaultdict -> <member> parameter#o 8MiB\n"
        f"{ADAM}.state collections.defaultdict -> ['<Parameter 2>'] dict#so\n"
        f"{ADAM}.state collections.defaultdict -> <member> parameter#n 2MiB\n"
    )

    (suspect,) = find_suspects(censuses_of(BEFORE, BODY + NEW + adam("b 1MiB") + moved))

    assert (suspect.facts["released"], suspect.retained_bytes) == ("head", 8 * 1024**2)
