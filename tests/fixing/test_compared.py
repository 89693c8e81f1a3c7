from __future__ import annotations

import pytest

from tenure.fixing.compared import Compared, tell_outputs, tell_steps
from tenure.fixing.written import Written


def test_what_was_compared_and_what_could_not_be_is_said_of_each_output() -> None:
    first = Written({"a.pt": "1", "b.pt": "2", "log.csv": "3", "run-1x": "4"}, {"log.csv": "loss 0.5 id 7\n"})
    second = Written({"a.pt": "1", "b.pt": "9", "log.csv": "8", "run-2y": "5"}, {"log.csv": "loss 0.5 id 8\n"})

    told = tell_outputs(("loss 0.5\n", "", first), ("loss 0.5\n", "late\n", second))

    assert told == Compared(
        ("stdout: 2 words", "files: a.pt", "log.csv: 3 of 4 words"),
        (
            "stderr: two unchanged runs write 0 and 1 lines",
            "b.pt: two unchanged runs write it differently, and it is no text",
            "log.csv: 1 word in which two unchanged runs differ, the first in line 1",
            "run-1x: one of two unchanged runs has none of this name",
        ),
    )


def test_many_files_are_counted() -> None:
    files = Written({f"{number}.pt": "1" for number in range(8)}, {})

    assert tell_outputs(("", "", files), ("", "", files)) == Compared(
        ("files: 0.pt, 1.pt, 2.pt, 3.pt, 4.pt, and 3 more",)
    )


@pytest.mark.parametrize(
    ("steps", "said"),
    [([1], "step 1"), ([0, 1], "steps 0, 1"), ([1, 2, 3, 4, 6, 8, 9], "steps 1 to 4, 6, 8, 9")],
)
def test_steps_are_said_in_ranges(steps: list[int], said: str) -> None:
    assert tell_steps(dict.fromkeys(steps)) == said
