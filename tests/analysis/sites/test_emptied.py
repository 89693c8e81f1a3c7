from __future__ import annotations

import pytest

from tenure.analysis.sites.emptied import emptied_by
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference

METRIC = "/usr/lib/python3.12/site-packages/metrics/metric.py"
CURVE = "/usr/lib/python3.12/site-packages/metrics/curve.py"
SOURCES = {
    METRIC: SourceFile(METRIC, "class Metric:\n    def reset(self):\n        self.preds.clear()\n", "library"),
    CURVE: SourceFile(CURVE, "from metrics.metric import Metric\n\n\nclass Curve(Metric):\n    pass\n", "library"),
}


def preds(expression: str, owner_type: str, *, element: bool = True) -> HoldingReference:
    return HoldingReference("attribute", "preds", expression, owner_type=owner_type, element=element)


@pytest.mark.parametrize(
    ("reference", "call"),
    [
        (preds("auroc.preds[*]", "metrics.metric.Metric"), "auroc.reset"),
        (preds("self.scores['val'].preds[*]", "metrics.curve.Curve"), "self.scores['val'].reset"),
        (preds("auroc.preds", "metrics.curve.Curve", element=False), ""),
        (preds("auroc.preds[*]", "metrics.other.Other"), ""),
        (HoldingReference("local", "preds", "preds[*]", element=True), ""),
    ],
    ids=["its own", "inherited", "no collection", "a class without", "a variable"],
)
def test_an_object_is_emptied_by_its_reset(reference: HoldingReference, call: str) -> None:
    assert emptied_by(reference, SOURCES) == call


@pytest.mark.parametrize(
    ("own_reset", "call"), [("", ""), ("    def reset(self):\n        self.preds.clear()\n", "env.reset")]
)
def test_a_reset_that_was_written_before_the_attribute_knows_nothing_of_it(own_reset: str, call: str) -> None:
    """A wrapper that keeps frames has the `reset` of the environment below it."""
    text = f"class Recorder(Metric):\n    def __init__(self):\n        self.preds = []\n{own_reset}"
    mine = {"run.py": SourceFile("run.py", f"from metrics.metric import Metric\n\n\n{text}")}

    assert emptied_by(preds("env.preds[*]", "run.Recorder"), SOURCES | mine) == call


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("self.preds = []", "meter.reset"),
        ("setattr(self, name, [])", "meter.reset"),
        ("self.forget()", "meter.reset"),
        ("self.count = 0", ""),
        ("self.other()", ""),
    ],
)
def test_a_reset_without_a_word_of_the_attribute_does_not_empty_it(body: str, call: str) -> None:
    """As that of an environment, which begins an episode, and not the list of who listens."""
    methods = "    def forget(self):\n        self.preds.clear()\n    def other(self):\n        pass\n"
    mine = {"run.py": SourceFile("run.py", f"class Meter:\n    def reset(self):\n        {body}\n{methods}")}

    assert emptied_by(preds("meter.preds[*]", "run.Meter"), mine) == call
