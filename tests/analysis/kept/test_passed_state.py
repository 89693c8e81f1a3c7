# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from heaps import census
from tenure.analysis.heap.groups import Shapes, view_census
from tenure.analysis.kept.passed_state import find_passed_state
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census
from tenure.model.suspect import UNCHANGED_SINCE, Suspect

STEPS = (1, 2, 4, 8, 12, 16, 24)
Version = Callable[[int], int]
NET = "main(t.py:9).net -> __main__.Net#net -> ._modules dict -> "
MODEL = (
    f"{NET}['encoder'] __main__.Encoder#encoder -> ._parameters dict -> ['weight'] parameter#e 4MiB\n"
    f"{NET}['head'] torch.nn.Linear#head -> ._parameters dict -> ['weight'] parameter#h 1MiB\n"
)
ADAM = "main(t.py:9).opt -> torch.optim.adam.Adam#adam -> "
GROUPS = "".join(
    f"{ADAM}.param_groups list -> [0] dict -> ['params'] list -> [{at}] parameter#{name} {size}\n"
    for at, (name, size) in enumerate((("e", "4MiB"), ("h", "1MiB")))
)


def state(name: str, size: str, *, serial: int, version: int) -> str:
    table = f"{ADAM}.state collections.defaultdict -> "
    return (
        f"{table}['<Parameter>'] dict#s{name} -> ['exp_avg'] tensor#m{name} {size} state serial={serial} version={version}\n"
        f"{table}<member> parameter#{name} {size}\n"
    )


def until(last: int) -> Version:
    """Written at every step up to this one."""
    return lambda step: min(step, last)


def censuses_of(
    *, encoder: Version, head: Version = until(99), steps: Sequence[int] = STEPS, beside: str = ""
) -> list[Census]:
    return [
        census(
            MODEL
            + GROUPS
            + state("e", "4MiB", serial=1, version=encoder(step))
            + state("h", "1MiB", serial=2, version=head(step))
            + beside,
            step=step,
        )
        for step in steps
    ]


def found(censuses: Sequence[Census]) -> tuple[Suspect, ...]:
    shapes = Shapes()
    return find_passed_state([view_census(each, shapes) for each in censuses])


def test_state_of_a_layer_that_was_frozen_while_the_optimizer_goes_on() -> None:
    (suspect,) = find_suspects(censuses_of(encoder=until(7)))

    assert (suspect.symptom, suspect.holder.name, suspect.retained_bytes) == ("survivor", "opt", 4 * 1024**2)
    assert suspect.facts == {UNCHANGED_SINCE: 8, "parameters": 1, "module": "__main__.Encoder"}
    assert [(drop.source_type, drop.kind, drop.label) for drop in suspect.drops] == [
        ("collections.defaultdict", "ITEM", "<Parameter>")
    ]


@pytest.mark.parametrize(
    "censuses",
    [
        pytest.param(censuses_of(encoder=until(99)), id="both are trained"),
        pytest.param(censuses_of(encoder=until(7), head=until(7)), id="no step changes anything"),
        pytest.param(censuses_of(encoder=until(18)), id="frozen at the end alone"),
        pytest.param(censuses_of(encoder=until(7), steps=(8, 24)), id="seen once since"),
        pytest.param(censuses_of(encoder=until(7), steps=(4, 6, 8, 9, 10)), id="for two steps"),
        pytest.param(censuses_of(encoder=until(0)), id="nothing counts what is written, as in older recordings"),
        pytest.param(
            censuses_of(encoder=until(7), beside="island -> parameter#e 4MiB -> .grad tensor 4MiB gradient"),
            id="it has a gradient",
        ),
        pytest.param(
            censuses_of(encoder=until(7), beside="main(t.py:9).table -> dict -> ['x'] tensor 99MiB"),
            id="less than a twentieth of all",
        ),
    ],
)
def test_state_in_use_light_or_of_which_too_little_is_known_is_none(censuses: Sequence[Census]) -> None:
    assert found(censuses) == ()


def test_what_was_passed_by_before_and_changed_again_is_told_with_doubt() -> None:
    (first,) = found(censuses_of(encoder=until(7)))
    (suspect,) = found(censuses_of(encoder=lambda step: 1 if step < 4 else min(step, 7)))

    assert "doubt" not in first.facts
    assert (suspect.facts[UNCHANGED_SINCE], suspect.facts["doubt"]) == (
        8,
        "steps passed it by before, and came back to it",
    )


def of_a_fused_optimizer(*frozen: tuple[int, ...]) -> list[Census]:
    """No version is counted; the encoder is frozen at the steps named first, the head at those named next."""
    drawn = []
    for step in STEPS:
        text = MODEL + GROUPS + state("e", "4MiB", serial=1, version=0) + state("h", "1MiB", serial=2, version=0)
        for name, steps in zip("eh", frozen, strict=False):
            text = text.replace(f"parameter#{name} ", f"parameter#{name} frozen ") if step in steps else text
        drawn.append(census(text, step=step))
    return drawn


@pytest.mark.parametrize(
    ("frozen", "since"),
    [
        ([(8, 12, 16, 24)], 8),
        ([(2, 4, 8, 12, 16, 24)], 2),
        ([(8, 12, 24)], None),
        ([(12, 16)], None),
        ([()], None),
        ([(8, 12, 16, 24), (8, 12, 16, 24)], None),
    ],
    ids=["since", "from early on", "trained in between", "trained again", "never", "all of them"],
)
def test_where_nothing_counts_what_is_written_the_state_of_frozen_parameters_is_told_with_doubt(
    frozen: list[tuple[int, ...]], since: int | None
) -> None:
    """As of a fused optimizer, whose kernel raises no version."""
    suspects = found(of_a_fused_optimizer(*frozen))

    assert [(each.facts[UNCHANGED_SINCE], each.retained_bytes) for each in suspects] == (
        [] if since is None else [(since, 4 * 1024**2)]
    )
    assert all(each.facts["doubt"] for each in suspects)
