from __future__ import annotations

import pytest

from profiles import MIB, profile
from resting import ALIVE, BATCH, BEFORE, FRAME, KEPT, LOGITS, STORAGES, seen
from suspects import carried, series
from tenure.analysis.idle.carried_in_use import told_where_steps_use_what_is_carried
from tenure.analysis.idle.step_replay import Replay
from tenure.model.suspect import FOR_THE_STEP, HoldingReference, Suspect

SLOT = HoldingReference("attribute", "staged", "self.feed.staged", owner_type="__main__.Feed")
PAIR = HoldingReference("local", "pair", "pair", scope_function="Service.run")
IN_SLOT = f"{FRAME}.self -> __main__.Service -> .feed __main__.Feed -> .staged"
MODEL = (f"{FRAME}.model -> __main__.Net#n -> ._parameters dict#p -> ['weight'] parameter 2MiB", 300)


def is_in_use(suspect: Suspect, *paths: tuple[str, int], more: tuple[tuple[int, ...], ...] = ()) -> bool:
    """Whether the suspect is said to be, where the peak of step 6 saw these paths to storages."""
    peak = Replay(profile(*STORAGES, *more), seen(MODEL, *paths, step=6, moment="peak"))
    (told,) = told_where_steps_use_what_is_carried([suspect], [peak])
    return FOR_THE_STEP in told.facts


@pytest.mark.parametrize(
    ("cut", "path", "address", "in_use"),
    [
        (SLOT, f"{IN_SLOT} dict -> ['rows'] tensor 1MiB", BATCH, True),
        (PAIR, f"{FRAME}.pair -> tuple -> [0] tensor 1MiB", BATCH, True),
        (SLOT, f"{IN_SLOT} tensor 1MiB", KEPT, False),
        (SLOT, f"{IN_SLOT} tensor 4MiB", LOGITS, False),
        (SLOT, f"{FRAME}.self -> __main__.Service -> .staged tensor 1MiB", BATCH, False),
        (PAIR, "main(serve.py:3).pair -> tensor 1MiB", BATCH, False),
    ],
    ids=["of an attribute", "of a variable", "untouched", "made by the step", "another object's", "another function's"],
)  # fmt: skip
def test_what_a_step_finds_and_uses_is_in_use(cut: HoldingReference, path: str, address: int, in_use: bool) -> None:
    assert is_in_use(carried(holder=cut, cut=(cut,)), (path, address)) is in_use


@pytest.mark.parametrize(("size", "in_use"), [(4, True), (3, False)])
def test_most_of_it_must_be_used(size: int, in_use: bool) -> None:
    paths = ((f"{IN_SLOT} list#l -> [0] tensor {size}MiB", 450), (f"{IN_SLOT} list#l -> [1] tensor 1MiB", KEPT))

    assert is_in_use(carried(holder=SLOT, cut=(SLOT,)), *paths, more=((450, size, BEFORE, 7, ALIVE),)) is in_use


@pytest.mark.parametrize(
    "other",
    [
        carried(cut=(SLOT,), symptom="survivor"),
        carried(cut=(SLOT,), through_graph=True),
        carried(cut=(SLOT,), series=series(3 * MIB, 3 * MIB, moment="peak")),
    ],
    ids=["of another symptom", "a graph", "of a peak"],
)
def test_of_other_suspects_nothing_is_said(other: Suspect) -> None:
    assert not is_in_use(other, (f"{IN_SLOT} tensor 1MiB", BATCH))


def test_without_a_profile_nothing_is_known() -> None:
    assert told_where_steps_use_what_is_carried([carried(cut=(SLOT,))], []) == (carried(cut=(SLOT,)),)
