from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.raised_again import needs_traceback


@pytest.mark.parametrize(
    "text",
    [
        "raise failure",
        "raise self.failure",
        "raise failure[-1]",
        "raise RuntimeError(step) from failure",
        "traceback.print_exception(failure)",
        "traceback.format_exc()",
        "logging.exception('failed')",
        "logging.error('failed', exc_info=True)",
        "frames = error.__traceback__",
        "future.set_exception(failure)",
    ],
)
def test_who_raises_it_or_reads_tracebacks_needs_them(text: str) -> None:
    assert needs_traceback([SourceFile("a.py", "x = 1\n"), SourceFile("b.py", text)], "failure")


@pytest.mark.parametrize(
    "text", ["raise ValueError(step)", "raise", "print(repr(failure))", "failure is None", "def f(:"]
)
def test_nobody_else_does(text: str) -> None:
    assert not needs_traceback([SourceFile("a.py", text)], "failure")
