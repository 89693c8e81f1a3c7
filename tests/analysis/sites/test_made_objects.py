"""Rings in a library's objects, told where the program makes these or copies them."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.analysis.sites.made_objects import by_the_call_that_makes
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

LIBRARY, MINE = "/lib/site-packages/torchmetrics/metric.py", "/me/scoring.py"
CLONED = """
    class Scores:
        def add(self, probability, mask):
            scores = self.template.clone(prefix="subject/")
            kept = probability.clone()
            scores.update(probability, kept)
            return scores.compute()
"""
ATTRIBUTE = CLONED.replace("scores = self", "self.scores = self").replace("scores.c", "self.scores.c")
MADE = """
    def add(probability, mask):
        return BinaryAUROC().forward(probability, mask)
"""
COMPUTE = HoldingReference("cycle", "compute", "BinaryAUROC.compute", owner_type="torchmetrics.BinaryAUROC")


def placed(text: str, method: str, *, kind: str = "cycle", file: str = LIBRARY) -> tuple[str, list[tuple[str, int]]]:
    """Name and places of the ring's reference that a method of the library's class makes in line 7."""
    sources = {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, dedent(text))}
    inside = SourceLocation(file, 7, f"Metric.{method}")
    reference = HoldingReference(kind, COMPUTE.name, COMPUTE.expression, COMPUTE.owner_type, sites=(inside,))
    found = by_the_call_that_makes(reference, sources)
    assert found.library_sites == ((inside,) if found != reference else ())
    return found.name, [(site.file, site.line) for site in found.sites]


@pytest.mark.parametrize(
    ("text", "method", "name", "line"),
    [
        (CLONED, "__setstate__", "scores", 4),
        (CLONED.replace("self.template.clone", "copy.deepcopy"), "__deepcopy__", "scores", 4),
        (
            CLONED.replace("scores = self", "self.scores = self").replace("scores.c", "self.scores.c"),
            "__setstate__",
            "scores",
            4,
        ),
        (MADE, "__init__", "BinaryAUROC", 3),
    ],
)
def test_the_statement_that_makes_the_objects_or_copies_them_is_told(
    text: str, method: str, name: str, line: int
) -> None:
    assert placed(text, method) == (name, [(MINE, line)])


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (CLONED, "update"),
        (MADE, "__setstate__"),
        (CLONED, "__init__"),
        (CLONED.replace("scores.compute()", "3"), "__setstate__"),
        (CLONED + CLONED, "__setstate__"),
    ],
)
def test_where_none_or_several_may_be_meant_it_stays_with_the_library(text: str, method: str) -> None:
    assert placed(text, method) == ("compute", [(LIBRARY, 7)])


def test_rings_alone_and_what_the_user_closes_are_not_looked_for() -> None:
    assert placed(CLONED, "__setstate__", kind="attribute") == ("compute", [(LIBRARY, 7)])
    assert placed(CLONED, "__setstate__", file=MINE) == ("compute", [(MINE, 7)])
