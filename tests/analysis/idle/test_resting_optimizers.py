from __future__ import annotations

import pytest

from profiles import MIB, profile
from resting import ALIVE, BATCH, BEFORE, FRAME, KEPT, MODEL, OTHER, RESULT, STORAGES, seen
from tenure.analysis.idle.resting_at_peak import find_resting_at_peak
from tenure.analysis.idle.step_replay import Replay
from tenure.model.profile import StepProfile

MORE = BATCH + 1
TOUCHED = profile(*STORAGES, (MORE, 1, BEFORE, 6, ALIVE))
ADAM = "torch.optim.adam.Adam"
SELF = f"{FRAME}.self -> __main__.Stages#s"
STATE = "{} -> .{} {}#{} -> .state collections.defaultdict -> [<Parameter>] dict -> ['exp_avg'] tensor {} state"
FIRST, SECOND = STATE.format(SELF, "first", ADAM, "a", "3MiB"), STATE.format(SELF, "second", ADAM, "b", "1MiB")
LISTED = "{} -> .{} {}#{} -> .param_groups list -> [0] dict -> ['params'] list -> [0] parameter 1MiB"
GROUPS = ((LISTED.format(SELF, "first", ADAM, "a"), 700), (LISTED.format(SELF, "second", ADAM, "b"), 800))


def told(*paths: tuple[str, int], made: StepProfile = TOUCHED) -> list[tuple[str, int]]:
    between = [seen(MODEL, *GROUPS, step=1), *(seen(MODEL, *GROUPS, *paths, step=step) for step in (4, 8))]
    peak = seen(MODEL, RESULT, *GROUPS, *paths, step=6, moment="peak")
    found = find_resting_at_peak(Replay(made, peak), between, ())
    return [(each.holder.expression, each.retained_bytes) for each in found]


def test_an_optimizer_none_of_whose_state_is_touched_rests_beside_one_that_steps() -> None:
    assert told((FIRST, KEPT), (SECOND, BATCH)) == [("self.first", 3 * MIB)]


@pytest.mark.parametrize(("more", "expected"), [(16, 1), (17, 0)])
def test_state_of_a_tenth_of_the_peak_is_worth_a_word(more: int, expected: int) -> None:
    """Beside 14 MiB: an optimizer often has its turn in other steps than the profiled ones."""
    made = profile(*STORAGES, (700, more, BEFORE, 6, ALIVE))

    assert len(told((FIRST, KEPT), (SECOND, BATCH), made=made)) == expected


@pytest.mark.parametrize(
    "paths",
    [((FIRST, KEPT),), ((FIRST, KEPT), (SECOND, OTHER)), ((FIRST, BATCH), (SECOND, MORE))],
    ids=["the only one", "none that steps", "in use"],
)
def test_state_of_the_optimizers_in_use_does_not_rest(paths: tuple[tuple[str, int], ...]) -> None:
    assert told(*paths) == []
