from __future__ import annotations

import pytest

from tenure.capture.steps.boundaries import OptimizerSequence, RootCalls


def ends(calls: str) -> str:
    """One character per optimizer step: | where it ends a training step, . where not."""
    sequence, numbers = OptimizerSequence(), {}
    return "".join("|" if sequence.ends_step(numbers.setdefault(name, len(numbers))) else "." for name in calls)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("AAAA", "||||"),
        ("DGDGDGDG", "|..|.|.|"),
        ("DDGDDGDDGDDG", "||...|..|..|"),
        ("DGGDGGDGGDGG", "|.|.|" + "|..|..|"),
        ("ABCABCABC", "|....|..|"),
    ],
)
def test_a_step_ends_with_the_last_optimizer_of_the_repeating_sequence(calls: str, expected: str) -> None:
    assert ends(calls)[-6:] == expected[-6:]


def test_two_optimizers_in_turn_make_as_many_steps_as_turns() -> None:
    assert ends("DG" * 50).count("|") == 50


def test_an_optimizer_that_is_no_longer_used_is_forgotten() -> None:
    assert ends("DG" * 20 + "D" * 60).endswith("|" * 20)


def test_five_critic_steps_and_one_generator_step_are_one_step() -> None:
    assert ends("DDDDDG" * 10)[-12:] == ".....|.....|"


def test_one_optimizer_per_fold_makes_a_step_per_fold_once_it_is_plain_that_each_is_new() -> None:
    sequence = OptimizerSequence()
    asked = [(sequence.ends_step(fold, after_forward=sequence.asks_for_forward)) for fold in range(6)]

    assert (asked, sequence.asks_for_forward) == ([True, False, False, True, True, True], True)


def test_folds_of_two_steps_make_two_steps_each_once_it_is_plain_that_no_optimizer_comes_back() -> None:
    sequence = OptimizerSequence()
    asked = [sequence.ends_step(at // 2, after_forward=sequence.asks_for_forward) for at in range(10)]

    assert asked == [True, True, False, True, False, True, True, True, True, True]


def test_many_optimizers_stepping_after_one_backward_are_one_step() -> None:
    assert ends("ABCDEFGH" * 4)[:16].count("|") == 2


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("AAaAAbAAcAAdAAe", "||.||.||."),  # a probe every second step, each with an optimizer of its own
        ("A" * 20 + "a" + "A" * 20, "|" * 12),  # one of fifty steps: the other goes on alone
        ("AaaaAbbbAcccAdddAeee", "|...|..."),  # a task's own steps before each of the training's
        ("DGaDGbDGcDGdDGeDG", ".|..|..|"),  # beside a pair
    ],
)
def test_optimizers_that_never_come_back_have_no_part_in_the_sequence(calls: str, expected: str) -> None:
    assert ends(calls)[-len(expected) :] == expected


def test_a_stage_that_trains_on_by_an_optimizer_of_its_own_counts_its_steps() -> None:
    assert ends("AaAbAcA" + "E" * 30)[-20:] == "|" * 20


def test_trials_that_wait_while_the_best_one_goes_on_do_not_keep_its_steps_from_counting() -> None:
    """As in a successive halving: six trials, three, one; all of them live on."""
    found = ends("AAAABBBBCCCCDDDDEEEEFFFF" + "AAAACCCCEEEE" + "C" * 20)

    assert (found[-15:], found.count("|") >= 24 - 5 + 15) == ("|" * 15, True)


def test_root_calls_are_steps_where_no_optimizer_exists() -> None:
    calls = RootCalls()

    assert [calls.begins_step(optimizer_exists=False) for _ in range(4)] == [False, True, True, True]


def test_micro_batches_before_the_first_optimizer_step_are_no_steps() -> None:
    calls = RootCalls(patience=6)

    assert [calls.begins_step(optimizer_exists=True) for _ in range(8)] == [False] * 6 + [True, True]


def test_calls_that_no_backward_pass_follows_are_steps_though_an_optimizer_waits() -> None:
    calls = RootCalls(patience=6, patience_without_gradients=3)

    answers = [calls.begins_step(optimizer_exists=True, has_gradients=lambda: False) for _ in range(5)]

    assert answers == [False] * 3 + [True, True]


def test_calls_that_a_backward_pass_followed_once_are_micro_batches() -> None:
    calls = RootCalls(patience=6, patience_without_gradients=3)
    seen = iter([False, True])

    answers = [calls.begins_step(optimizer_exists=True, has_gradients=lambda: next(seen)) for _ in range(8)]

    assert answers == [False] * 6 + [True, True]


@pytest.mark.parametrize(
    ("kinds", "period"), [("", 1), ("AAAA", 1), ("ABA", 1), ("ABAB", 2), ("ABABA", 2), ("DDDTDDDT", 4), ("AABCDE", 1)]
)
def test_calls_that_alternate_in_kind_have_the_length_of_their_shortest_repeating_sequence(
    kinds: str, period: int
) -> None:
    calls = RootCalls()
    for kind in kinds:
        calls.note(kind)

    assert calls.period == period
