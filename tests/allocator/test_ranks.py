"""Of ranks whose snapshots lie beside each other the odd one is named, with what it holds more and since when."""

from __future__ import annotations

from allocator.training import KEEPING, Training
from tenure.allocator.ranks import OddRank, RankSummary, compare, summary_of
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.roles import BlockRole
from tenure.allocator.settings import MIB
from tenure.allocator.story import story_of


def rank(number: int, *, leak_bytes: int = 0, from_step: int = 0, steps: int = 6) -> RankSummary:
    training = Training()
    for step in range(steps):
        training.leak_bytes = leak_bytes if step >= from_step else 0
        training.step()
    snapshot = training.read()
    replay = replay_snapshot(snapshot, 0)
    return summary_of(
        number,
        snapshot,
        replay,
        story_of(snapshot, replay),
        lambda stack: str(snapshot.frames[snapshot.stacks[stack][0]].line) if stack >= 0 else "",
    )


def test_a_rank_that_keeps_more_is_named_with_role_line_and_step() -> None:
    compared = compare([rank(0), rank(1), rank(2, leak_bytes=20 * MIB, from_step=2), rank(3)])

    assert compared.odd == (OddRank(2, BlockRole.SURVIVOR, 80 * MIB, 2, str(KEEPING[0]["line"])),)
    assert compared.missing == ()


def test_ranks_that_are_alike_are_not_odd() -> None:
    assert compare([rank(number) for number in range(4)]).odd == ()


def test_of_two_ranks_the_one_with_more_is_named() -> None:
    compared = compare([rank(0, leak_bytes=20 * MIB), rank(3)])

    assert [(odd.rank, odd.role) for odd in compared.odd] == [(0, BlockRole.SURVIVOR)]
    assert compared.missing == (1, 2)


def test_one_rank_alone_is_not_compared() -> None:
    assert compare([rank(0, leak_bytes=20 * MIB)]).odd == ()
