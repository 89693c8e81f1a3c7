from __future__ import annotations

import pytest

from profiles import MIB
from resting import BATCH, FRAME, KEPT, MODEL, OTHER, RESULT, TOUCHED, seen
from tenure.analysis.idle.resting_at_peak import find_resting_at_peak
from tenure.analysis.idle.step_replay import Replay

ADAM = "torch.optim.adam.Adam"
SELF = f"{FRAME}.self -> __main__.Stages#s"
STATE = "{} -> .{} {}#{} -> .state collections.defaultdict -> [<Parameter>] dict -> ['exp_avg'] tensor {} state"
FIRST, SECOND = STATE.format(SELF, "first", ADAM, "a", "3MiB"), STATE.format(SELF, "second", ADAM, "b", "1MiB")
LISTED = "{} -> .{} {}#{} -> .param_groups list -> [0] dict -> ['params'] list -> [0] parameter 1MiB"
GROUPS = ((LISTED.format(SELF, "first", ADAM, "a"), 700), (LISTED.format(SELF, "second", ADAM, "b"), 800))


def told(*paths: tuple[str, int]) -> list[tuple[str, int]]:
    between = [seen(MODEL, *GROUPS, step=1), *(seen(MODEL, *GROUPS, *paths, step=step) for step in (4, 8))]
    peak = seen(MODEL, RESULT, *GROUPS, *paths, step=6, moment="peak")
    found = find_resting_at_peak(Replay(TOUCHED, peak), between, ())
    return [(each.holder.expression, each.retained_bytes) for each in found]


def test_an_optimizer_none_of_whose_state_is_touched_rests_beside_one_that_steps() -> None:
    assert told((FIRST, KEPT), (SECOND, BATCH)) == [("self.first", 3 * MIB)]


@pytest.mark.parametrize(
    "paths",
    [((FIRST, KEPT),), ((FIRST, KEPT), (SECOND, OTHER)), ((FIRST, BATCH), (SECOND, BATCH + 1))],
    ids=["the only one", "none that steps", "in use"],
)
def test_state_of_the_optimizers_in_use_does_not_rest(paths: tuple[tuple[str, int], ...]) -> None:
    assert told(*paths) == []
