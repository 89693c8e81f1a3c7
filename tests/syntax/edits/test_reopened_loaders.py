"""Loaders that are opened anew instead of kept."""

from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.reopened_loaders import reopen_each_pass


def reopened(statement: str) -> list[str]:
    source = source_of(f"import itertools\n{statement}  # here\n")
    return changes(source, reopen_each_pass(source, line_of(source)))


def test_a_loader_is_asked_again_for_each_pass() -> None:
    assert reopened("batches = iter(itertools.cycle(self.loader))") == [
        "- batches = iter(itertools.cycle(self.loader))  # here",
        "batches = iter(itertools.chain(iter(self.loader), "
        "itertools.chain.from_iterable(itertools.repeat(self.loader))))  # here",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "cycle(loader)",
        "itertools.chain(loader)",
        "itertools.cycle(*loaders)",
        "itertools.cycle(open_loader())",
        "f(itertools.cycle(a), itertools.cycle(b))",
    ],
)
def test_other_calls_stay(statement: str) -> None:
    assert reopened(statement) == []
