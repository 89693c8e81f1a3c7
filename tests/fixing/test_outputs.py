from __future__ import annotations

import pytest

from tenure.fixing.outputs import Comparison, compare_files, compare_texts, join

FIRST = "epoch 1: loss 0.5, took 1.21s\nmodel at 0x7f3a12345678\nmemory 12.5 MiB\ndone\n"
SECOND = FIRST.replace("1.21s", "1.35s").replace("0x7f3a12345678", "0x7f3a87654321")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (FIRST, Comparison(True)),
        (FIRST.replace("1.21s", "9.99s"), Comparison(True)),
        (
            FIRST.replace("loss 0.5", "loss 0.6"),
            Comparison(False, ("line 1: 'epoch 1: loss 0.5, took 1.21s' -> 'epoch 1: loss 0.6, took 1.21s'",)),
        ),
        (FIRST.replace("12.5", "3.1"), Comparison(True, (), ("line 3: 'memory 12.5 MiB' -> 'memory 3.1 MiB'",))),
        (FIRST.replace("done\n", ""), Comparison(False, ("line 4: 'done' -> nothing",))),
        (FIRST + "more\n", Comparison(False, ("line 5: nothing -> 'more'",))),
        (FIRST.replace("done", "done it"), Comparison(False, ("line 4: 'done' -> 'done it'",))),
    ],
)
def test_only_what_two_unchanged_runs_agree_in_is_compared(other: str, expected: Comparison) -> None:
    assert compare_texts(FIRST, SECOND, other) == expected


def test_nothing_can_be_compared_where_unchanged_runs_print_more_or_fewer_lines() -> None:
    assert compare_texts("a\n", "a\nb\n", "a\n") == Comparison(None)
    assert compare_texts("", "", "") == Comparison(True)


def test_files_that_unchanged_runs_write_alike_are_to_be_the_same() -> None:
    first, second = (
        {"log.csv": "1", "time.txt": "2", "model.pt": "3"},
        {"log.csv": "1", "time.txt": "9", "model.pt": "3"},
    )

    assert compare_files(first, second, first) == Comparison(True)
    assert compare_files(first, second, {"log.csv": "7", "time.txt": "8", "new": "5"}) == Comparison(
        False, ("log.csv differs", "model.pt is missing")
    )


def test_several_comparisons_are_as_bad_as_their_worst() -> None:
    fine, unknown, bad = Comparison(True), Comparison(None), Comparison(False, ("x",))

    assert [join(each).equal for each in ([fine, fine], [fine, unknown], [unknown, bad])] == [True, None, False]
    assert join([bad, bad]).differences == ("x", "x")
