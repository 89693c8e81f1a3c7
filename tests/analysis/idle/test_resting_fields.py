from __future__ import annotations

import pytest

from profiles import MIB
from resting import BRIEF, FRAME, MODEL, RESULT, TOUCHED, seen
from tenure.analysis.idle.resting_at_peak import find_resting_at_peak
from tenure.analysis.idle.step_replay import Replay

BATCH = 400
"""The storage that both profiled steps use."""
LATENTS = f"{FRAME}.cache -> __main__.Cache#c -> .latents list#l"
ENTRY = LATENTS + " -> [{n}] __main__.Posterior#e{n} -> .{field} tensor {size}"
Field = tuple[str, int]


def entry(n: int, field: str, size: str, address: int) -> Field:
    return ENTRY.format(n=n, field=field, size=size), address


def told(*fields: Field) -> list[tuple[list[str], int]]:
    between = [seen(MODEL, step=1), seen(MODEL, *fields, step=4), seen(MODEL, *fields, step=8)]
    peak = seen(MODEL, RESULT, *fields, step=6, moment="peak")
    found = find_resting_at_peak(Replay(TOUCHED, peak), between, ())
    return [(sorted({each.expression for each in one.cut}), one.retained_bytes) for one in found]


MEANS = [entry(0, "mean", "1MiB", BATCH), entry(1, "mean", "1MiB", 701), entry(2, "mean", "1MiB", 702)]
DEVIATIONS = [entry(n, "std", "1MiB", 710 + n) for n in range(3)]


def test_fields_that_no_used_entry_is_used_by_are_told_of_all_entries() -> None:
    assert told(*MEANS, *DEVIATIONS) == [(["cache.latents[*].std"], 3 * MIB)]


@pytest.mark.parametrize(
    "fields",
    [
        [*MEANS[1:], *DEVIATIONS],
        [*MEANS, *DEVIATIONS[1:]],
        [*MEANS[:1], *DEVIATIONS[:1]],
    ],
    ids=["no entry used", "the entry used has no such field", "one entry"],
)
def test_what_no_used_entry_tells_of_is_none(fields: list[Field]) -> None:
    assert not any("cache.latents[*].std" in expressions for expressions, _ in told(*fields))


def test_the_batch_of_a_profiled_step_does_not_show_which_fields_later_steps_use() -> None:
    of_step = [entry(3, "mean", "1MiB", 703), entry(3, "std", "3MiB", BRIEF)]
    assert told(*MEANS, *DEVIATIONS, *of_step) == [(["cache.latents[*].std"], 3 * MIB)]
