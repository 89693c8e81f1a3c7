from __future__ import annotations

import pytest

from tenure.model.source import SourceFile, SourceLocation
from tenure.syntax.text.remainders import Remainder, find_remainders


def divisors(text: str, *more: str) -> list[tuple[str, set[int]]]:
    files = [SourceFile(f"{number}.py", each, "yours") for number, each in enumerate((text, *more))]
    return [(found.expression, set(found.divisors)) for found in find_remainders(files)]


@pytest.mark.parametrize(
    "given",
    [
        "every = 12",
        "every: int = 12",
        "self.every = 12",
        "def log(step, every=12): ...",
        "def log(step, *, every=12): ...",
        "Logger(every=12)",
        "config = {'every': 12}",
        "parser.add_argument('--every', type=int, default=12)",
    ],
)
def test_a_divisor_has_the_values_that_the_source_gives_its_name(given: str) -> None:
    assert divisors("if step % every == 0: flush()", given) == [("step % every", {12})]
    assert divisors("x = 1 if (step + 1) % c.every == 0 else 0", given) == [("(step + 1) % c.every", {12})]


def test_a_remainder_outside_of_conditions_or_of_unknown_value_does_not_count() -> None:
    assert divisors("x = step % 12\nif step % every: flush()\nif not 'a%s' % b: flush()") == []


def test_numbers_stand_for_themselves_and_a_file_that_does_not_parse_is_left_out() -> None:
    files = [SourceFile("a.py", "if (", "yours"), SourceFile("b.py", "\nif step % 7: flush()", "yours")]

    assert find_remainders(files) == (Remainder("step % 7", SourceLocation("b.py", 2, ""), frozenset({7})),)
