from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.analysis.sites.binding_sites import is_unambiguous, resolve_sites
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference

TRAINER = """\
    class Trainer:
        def __init__(self):
            self.stats = {"loss": [], "logits": []}

        def step(self, number, loss, logits):
            if number % 2:
                self.stats["logits"].append(logits)
            else:
                self.stats["logits"].append(logits * 2)
            self.stats["loss"].append(loss)
            self.stats["norm"]["total"] = loss

    trainer = Trainer()
    """
REPORTER = """\
    class Reporter:
        def __init__(self):
            self.stats = {}

        def report(self, key, value):
            if key not in self.stats:
                self.stats[key] = [value]
            else:
                self.stats[key].append(value)

    trainer = Reporter()
    """
JOINED = """\
    class Reporter:
        def __init__(self):
            self.stats = {}

        def report(self, key, value):
            self.stats[key] = [*self.stats.get(key, []), value]

    trainer = Reporter()
    """


@pytest.mark.parametrize(
    ("text", "key", "growing", "lines", "certain"),
    [
        (TRAINER, "loss", True, [10], True),
        (TRAINER, "logits", True, [7, 9], False),
        (REPORTER, "loss", True, [9, 7], True),
        (JOINED, "loss", True, [6], True),
        (REPORTER, "loss", False, [7, 9], False),
    ],
    ids=["the key's own line", "both lines of a key", "appends", "joins", "what is only carried"],
)
def test_a_list_under_a_key_is_filled_by_statements_with_that_key_or_a_computed_one(
    text: str, key: str, growing: bool, lines: list[int], certain: bool
) -> None:
    sources = {"train.py": SourceFile("train.py", dedent(text))}
    reference = HoldingReference(
        "item",
        f"stats['{key}']",
        f"trainer.stats['{key}'][*]",
        owner_type="dict",
        scope_file="train.py",
        element=True,
        container_type="list",
    )

    sites = [site.line for site in resolve_sites(reference, sources, growing=growing)]

    assert (sites, is_unambiguous(reference, sources, growing=growing)) == (lines, certain)
