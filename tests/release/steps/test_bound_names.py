"""Which names a stretch of code binds. Needs no torch."""

from __future__ import annotations

import dis
from types import CodeType, FunctionType

from tenure.release.steps.bound_names import BoundNames, is_with_statement, names_bound_between


def offset_of_line(code: CodeType, number: int) -> int:
    """The first instruction of the function's `number`th line."""
    line = code.co_firstlineno + number
    return next(first for first, _, found in code.co_lines() if found == line)


def bound(function: FunctionType, first: int, last: int) -> BoundNames:
    code = function.__code__
    return names_bound_between(code, offset_of_line(code, first), offset_of_line(code, last))


def straight() -> None:
    before = 1
    one, (two, *three) = 1, (2, 3)
    before += one
    after = before + two + len(three)
    print(after)


def looping() -> None:
    total = 0
    for number in range(3):
        total += number
        late = number
    print(total, late)


def handled() -> None:
    start = 1
    try:
        found = start / 0
    except ZeroDivisionError as error:
        print(error)
        found, failed = 0, True
    print(found, failed)
    last = 1
    print(last)


def outer() -> None:
    shared = 1

    def inner() -> int:
        return shared

    global in_module
    in_module = inner()
    print(locals())


def test_names_between_two_statements_are_those_bound_there() -> None:
    assert bound(straight, 2, 3) == BoundNames(frozenset({"before", "one", "two", "three"}))


def test_a_stretch_that_ends_inside_a_loop_has_the_whole_loop() -> None:
    assert bound(looping, 2, 3) == BoundNames(frozenset({"total", "number", "late"}))


def test_a_handler_belongs_to_the_stretch_that_it_stands_in() -> None:
    assert bound(handled, 2, 7) == BoundNames(frozenset({"found", "failed", "error"}))


def test_cells_globals_and_calls_of_locals_are_told_apart() -> None:
    assert bound(outer, 1, 8) == BoundNames(frozenset({"shared", "inner"}), ("in_module",), asks_for_locals=True)


def test_a_call_is_no_with_statement() -> None:
    code = compile("with one: pass\ntwo.__enter__()", "text", "exec")
    entries = [each.offset for each in dis.get_instructions(code) if is_with_statement(code, each.offset)]
    assert len(entries) == 1
