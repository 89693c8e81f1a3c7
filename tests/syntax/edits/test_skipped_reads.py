"""Attributes let go of where a program goes past what reads them."""

from __future__ import annotations

import textwrap

import pytest

from edit_texts import source_of
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.edits.skipped_reads import let_go_where_skipped


def skipped(text: str) -> list[str]:
    source = source_of(textwrap.dedent(text))
    return [apply_edits(source.text, edits) for edits in let_go_where_skipped([source], "judge")]


def test_what_a_function_leaves_early_without_is_let_go_there() -> None:
    text = """
    class Guidance:
        def extra(self, step, poses):
            if step >= self.until:
                return None
            return self.judge(poses).mean()
    """

    assert skipped(text) == [
        """\
class Guidance:
    def extra(self, step, poses):
        if step >= self.until:
            self.judge = None
            return None
        return self.judge(poses).mean()
"""
    ]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("", "    else:\n        trainer.judge = None\n"),
        ("    else:\n        y = x\n", "    else:\n        trainer.judge = None\n        y = x\n"),
        ("    elif x:\n        y = x\n", None),
        ("    else:\n        y = trainer.judge\n", None),
    ],
)
def test_the_other_way_of_a_condition_lets_go(other: str, expected: str | None) -> None:
    head = "def step(trainer, x, y):\n    if y:\n        y = trainer.judge(x)\n"

    assert skipped(f"{head}{other}    return y\n") == ([f"{head}{expected}    return y\n"] if expected else [])


@pytest.mark.parametrize(
    "text",
    [
        "def f(self, x):\n    if x: return None\n    return self.judge(x)\n",
        "def f(self, x):\n    if self.judge is None:\n        return None\n    return self.judge(x)\n",
        "def f(self, x):\n    if x:\n        x = 2\n    return self.judge(x)\n",
        "def f(self, other, x):\n    if x:\n        return other.judge\n    return self.judge(x)\n",
        "def f(self, x):\n    return self.judge(x)\n",
    ],
)
def test_where_nothing_goes_past_it_nothing_is_let_go(text: str) -> None:
    assert skipped(text) == []
