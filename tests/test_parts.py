from collections.abc import Iterator

import pytest

from tenure.parts import STRICT, Parts


@pytest.fixture(autouse=True)
def parts_may_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parts, "strict", False)


def halves(numbers: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(1 / number for number in numbers)


def lazily(*numbers: int) -> Iterator[int]:
    yield from numbers
    raise LookupError("no more\nof them")


def test_what_fails_is_left_out_and_said_in_one_line() -> None:
    parts = Parts()

    assert parts.found(lazily, 1, 2) == ()
    assert parts.take("otherwise", halves, (0,)) == "otherwise"
    first, second = parts.failures
    assert first.startswith("LookupError: no more (test_parts.py:")
    assert first.endswith("in lazily)")
    assert second.startswith("ZeroDivisionError: division by zero (test_parts.py:")


def test_what_cannot_be_changed_stays_as_it_is_beside_what_can() -> None:
    parts = Parts()

    assert parts.each(halves, [(2, 4), (0,), (5,)]) == ((0.5, 0.25), (0,), (0.2,))
    assert len(parts.failures) == 1


def test_what_works_is_given_back_whole() -> None:
    parts = Parts()

    assert (parts.found(range, 3), parts.changed((2,), halves), parts.failures) == ((0, 1, 2), (0.5,), [])


def test_the_first_failure_is_raised_where_parts_are_strict() -> None:
    with pytest.raises(ZeroDivisionError):
        STRICT.changed((0,), halves)


def test_whoever_ends_the_program_is_no_failure() -> None:
    def interrupted(value: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Parts().changed(1, interrupted)
