from __future__ import annotations

import pytest

from tenure.fixing.outputs import Comparison, compare_files, compare_outputs, compare_texts, join
from tenure.fixing.written import Written

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


OF_TWO_LINES = """/own/train.py:9: UserWarning: Converting a tensor with requires_grad=True to a scalar.
Consider using tensor.detach() first.
  print(float(loss))
"""
WARNING = "/lib/torch/autograd/graph.py:825: UserWarning: a reference cycle between {} and its gradient\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((WARNING.format("it"), "done\n"), ("done\n",), Comparison(True)),
        ((WARNING.format("it"), "done\n"), (WARNING.format("it"), "done\n"), Comparison(True)),
        ((OF_TWO_LINES, "done\n"), ("done\n",), Comparison(True)),
        ((OF_TWO_LINES, "done\n"), (OF_TWO_LINES, "gone\n"), Comparison(False, ("line 2: 'done' -> 'gone'",))),
        (("done\n",), ("done\n", WARNING.format("it")), Comparison(False, (f"line 2: nothing -> {WARNING[:55]!r}",))),
        ((WARNING.format("it"), "gone\n"), ("done\n",), Comparison(False, ("line 1: 'gone' -> 'done'",))),
    ],
)
def test_a_warning_that_is_given_no_more_is_no_difference(
    before: tuple[str, ...], after: tuple[str, ...], expected: Comparison
) -> None:
    found = compare_texts("".join(before), "".join(before), "".join(after))

    assert (found.equal, [each[:40] for each in found.differences]) == (
        expected.equal,
        [each[:40] for each in expected.differences],
    )


def written(**files: str) -> Written:
    """Files whose content is their digest; those that end in `_pt` are no text."""
    return Written(files, {name: text for name, text in files.items() if not name.endswith("_pt")})


def test_files_that_unchanged_runs_write_alike_are_to_be_the_same() -> None:
    first, second = (written(log="loss 0.5", model_pt="3", own_pt=each) for each in ("a", "b"))

    assert compare_files(first, second, first) == Comparison(None)
    assert compare_files(first, second, written(log="loss 0.6", new="5")) == Comparison(
        False, ("log line 1: 'loss 0.5' -> 'loss 0.6'", "model_pt is missing", "own_pt is missing", "new is new")
    )
    assert compare_files(first, second, written(log="loss 0.5", model_pt="4", own_pt="c")).differences == (
        "model_pt differs",
    )


def test_of_a_file_that_unchanged_runs_write_differently_all_words_are_compared_but_those() -> None:
    first, second = (written(log=f'{{"loss": 0.5, "id": {each}}}\n') for each in (1, 2))

    assert compare_files(first, second, written(log='{"loss": 0.5, "id": 3}\n')) == Comparison(True)
    assert compare_files(first, second, written(log='{"loss": 0.6, "id": 3}\n')) == Comparison(
        False, ("""log line 1: '{"loss": 0.5, "id": 1}' -> '{"loss": 0.6, "id": 3}'""",)
    )


def test_files_with_times_in_their_names_are_compared_with_each_other() -> None:
    first, second, other = (
        Written({f"events.{time}.host.{process}.0": digest}, {f"events.{time}.host.{process}.0": text})
        for time, process, digest, text in (
            (17, 4, "a", "loss 0.5"),
            (18, 5, "b", "loss 0.5"),
            (19, 6, "c", "loss 0.7"),
        )
    )

    assert compare_files(first, second, second) == Comparison(True)
    assert compare_files(first, second, other).differences == ("events.17.host.4.0 line 1: 'loss 0.5' -> 'loss 0.7'",)


def test_streams_are_compared_as_well_as_files() -> None:
    run = ("loss 0.5\n", "INFO loss 0.5\n", written(log="x"))

    assert compare_outputs(run, run, run) == Comparison(True)
    assert compare_outputs(run, run, ("loss 0.5\n", "INFO loss 0.6\n", written(log="x"))) == Comparison(
        False, ("stderr line 1: 'INFO loss 0.5' -> 'INFO loss 0.6'",)
    )


def test_several_comparisons_are_as_bad_as_their_worst() -> None:
    fine, unknown, bad = Comparison(True), Comparison(None), Comparison(False, ("x",))

    assert [join(each).equal for each in ([fine, fine], [fine, unknown], [unknown, bad])] == [True, None, False]
    assert join([bad, bad]).differences == ("x", "x")
