from __future__ import annotations

import pytest

from suspects import suspect
from tenure.analysis.idle.weights import (
    is_news,
    is_worth_a_hint,
    is_worth_a_word_to_the_user,
    may_weigh_enough,
    weighs_enough,
)
from tenure.model.suspect import COPIED_TO_GROW

MIB = 1 << 20


@pytest.mark.parametrize(
    ("num_bytes", "of", "expected"),
    [
        (MIB, 20 * MIB, True),
        (MIB, 21 * MIB, False),
        (MIB - 1, 4 * MIB - 4, True),
        (MIB - 1, 5 * MIB, False),
        (128 << 10, 512 << 10, True),
        (127 << 10, 128 << 10, False),
    ],
)
def test_much_is_told_from_a_twentieth_and_little_from_a_quarter_on(num_bytes: int, of: int, expected: bool) -> None:
    assert weighs_enough(num_bytes, of, share=0.05) is expected


def test_a_rule_that_asks_for_more_than_a_quarter_asks_it_of_little_too() -> None:
    assert not weighs_enough(MIB // 2, MIB, share=0.6)
    assert weighs_enough(MIB // 2, MIB, share=0.5)


@pytest.mark.parametrize(
    ("num_bytes", "of", "expected"),
    [
        (MIB, 20 * MIB, True),
        (MIB, 20 * MIB + 21, False),
        (127 << 10, 10 * (127 << 10), True),
        (127 << 10, 11 * (127 << 10), False),
        (16 << 10, 160 << 10, True),
        (15 << 10, 16 << 10, False),
    ],
)
def test_a_twentieth_is_news_and_of_a_trial_a_tenth_from_16_kib_on(num_bytes: int, of: int, expected: bool) -> None:
    assert is_news(num_bytes, of) is expected


@pytest.mark.parametrize(
    ("yours", "drop", "facts", "worth"),
    [
        (True, MIB, {}, True),
        (False, MIB, {}, False),
        (False, 3 * MIB, {}, True),
        (False, MIB, {COPIED_TO_GROW: "cat"}, True),
    ],
    ids=["of the program", "a little of a library", "much of a library", "a concatenation"],
)
def test_what_a_library_keeps_a_little_too_long_is_not_worth_a_word(
    yours: bool, drop: int, facts: dict[str, object], worth: bool
) -> None:
    idle = suspect(symptom="peak", holder_is_yours=yours, peak_bytes=12 * MIB, peak_drop_bytes=drop, facts=facts)

    assert is_worth_a_word_to_the_user(idle) is worth


@pytest.mark.parametrize(
    ("num_bytes", "of", "of_variable", "kept"),
    [(3 << 20, 100 << 20, True, True), (3 << 20, 101 << 20, False, True), (1 << 20, 32 << 20, True, True),
     (1023 << 10, 32 << 20, False, True), (256 << 10, 25 << 20, False, True), (256 << 10, 26 << 20, False, False),
     (255 << 10, 25 << 20, False, False), (128 << 10, 2 << 20, True, True)],
)  # fmt: skip
def test_a_thirtieth_is_worth_a_hint_from_a_mebibyte_on_and_a_hundredth_where_an_object_keeps_it(
    num_bytes: int, of: int, of_variable: bool, kept: bool
) -> None:
    assert is_worth_a_hint(num_bytes, of, is_kept=False) is of_variable
    assert is_worth_a_hint(num_bytes, of, is_kept=True) is kept


@pytest.mark.parametrize(
    ("num_bytes", "of", "expected"),
    [(MIB, 100 * MIB, True), (MIB, 101 * MIB, False), (256 << 10, 25 * MIB, True), (255 << 10, 25 * MIB, False),
     (255 << 10, 2 * MIB, True), (127 << 10, 128 << 10, False)],
)  # fmt: skip
def test_a_hundredth_may_be_enough_and_of_little_a_tenth(num_bytes: int, of: int, expected: bool) -> None:
    assert may_weigh_enough(num_bytes, of, share=0.05) is expected
