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


POOL = "main.pool -> __main__.Pool -> .clips list#clips -> [{slot}] tensor#c{born} {kib}KiB\n"
ENTERED = "train.step(train.py:5).x -> tensor#x{step} {kib}KiB input"


def pool_after(step: int, *, longer: bool = True) -> str:
    """Four slots, of which each step fills the next one anew, with clips that are longer every fifth step."""
    born = range(max(1, step - 3), step + 1)
    return "".join(POOL.format(slot=each % 4, born=each, kib=8 * (1 + each // 5 * longer)) for each in born)


def entered_with(step: int, *, longer: bool) -> str:
    return ENTERED.format(step=step, kib=8 * (1 + step // 5 * longer))


@pytest.mark.parametrize(("longer", "told"), [(True, []), (False, ["growth"])])
def test_a_pool_that_is_full_and_has_ever_longer_batches_follows_them(longer: bool, told: list[str]) -> None:
    ends = [census(MODEL + pool_after(step), step=step) for step in STEPS]
    entries = [
        census(MODEL + pool_after(step) + entered_with(step, longer=longer), step=step, moment="forward-entry")
        for step in STEPS
    ]

    found = [suspect.symptom for suspect in find_suspects([*ends, *entries])]
    assert [symptom for symptom in found if symptom == "growth"] == told


ASKED = "train.step(train.py:5).x -> tensor#x{step} 8KiB input\n"
PREPARED = (
    "main.loader -> __main__.Prefetcher -> .queue collections.deque#q -> [0] Pairs#p{later} -> .words tensor#w{later}"
    " {longer}KiB\n"
    "main.loader -> __main__.Prefetcher -> .queue collections.deque#q -> [0] Pairs#p{later} -> .asked tensor#a{later}"
    " 8KiB\n"
    "train.fit(train.py:9).pairs -> Pairs#p{step} -> .words tensor#w{step} {kib}KiB\n"
)


def prepared(step: int, asked: str) -> str:
    return PREPARED.format(step=step, later=step + 1, kib=8 * (1 + step // 5), longer=8 * (1 + (step + 1) // 5)) + asked


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("train.fit(train.py:9).pairs -> Pairs#p{step} -> .asked tensor#a{step} 8KiB\n", []),
        ("train.fit(train.py:9).pairs -> Pairs#p{step} -> .asked tensor#a 8KiB\n", ["growth"]),
    ],
    ids=["all made anew", "some lasts"],
)
def test_a_batch_of_several_parts_that_are_all_made_anew_is_no_growth_whichever_part_the_forward_is_given(
    asked: str, told: list[str]
) -> None:
    ends = [census(MODEL + prepared(step, asked.format(step=step)), step=step) for step in STEPS]
    entries = [census(MODEL + ASKED.format(step=step), step=step, moment="forward-entry") for step in STEPS]

    found = [suspect.symptom for suspect in find_suspects([*ends, *entries])]
    assert [symptom for symptom in found if symptom == "growth"] == told


@pytest.mark.parametrize(("role", "told"), [("input", []), ("plain", ["growth"])])
def test_images_that_only_the_last_phase_gives_to_its_model_are_its_batch(role: str, told: list[str]) -> None:
    def at(step: int, moment: str, role: str = "") -> Census:
        images = f"train.step(train.py:5).images -> tensor#x{step} {8 * (1 + step // 5)}KiB {role}\n"
        others = "train.first(train.py:2).batch -> tensor 8KiB input\n"
        return census(MODEL + (images if step > 8 else others), step=step, moment=moment)

    entries = [at(step, "forward-entry", role.replace("plain", "")) for step in (1, 2, 3, 4, 13, 44)]

    found = find_suspects([*(at(step, "step-end") for step in STEPS), *entries])
    assert [suspect.symptom for suspect in found] == told


@pytest.mark.parametrize(("labels", "told"), [("{kib}B", 0), ("{step}B", 1)], ids=["in proportion", "by themselves"])
def test_labels_that_swell_with_the_images_of_a_batch_belong_to_it(labels: str, told: int) -> None:
    images = "train.fit(train.py:9).images -> tensor#x{step} {kib}KiB input\n"
    text = f"{images}train.fit(train.py:9).labels -> tensor#y{{step}} "

    def at(step: int, moment: str) -> Census:
        return census(MODEL + (text + labels).format(step=step, kib=8 * (1 + step // 5)), step=step, moment=moment)

    found = find_suspects([at(step, moment) for moment in ("step-end", "forward-entry") for step in STEPS])
    assert len([suspect for suspect in found if suspect.holder.name == "labels"]) == told
