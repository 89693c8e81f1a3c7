"""Where a program goes through, in the end, what a container has collected."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest

from suspects import suspect
from tenure.analysis.sites.read_afterwards import comes_seldom, place_that_reads_all
from tenure.analysis.sites.text_facts import facts_of_text
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import READ_AFTERWARDS, READ_IN_TURNS, HoldingReference, Hop, Suspect

SOUP = dedent(
    """
    from dataclasses import dataclass
    from typing import NamedTuple
    class Ingredient(NamedTuple):
        score: float
        weights: dict
    class Soup:
        def __init__(self):
            self.pantry = []
        def add(self, model, score):
            self.pantry.append(Ingredient(score, copied(model)))
        def cook(self):
            return mean([each.weights for each in self.pantry])
    def main(model):
        soup = Soup()
        for score in range(9):
            soup.add(model, score)
        soup.cook()
    """
)
PANTRY = HoldingReference(
    "attribute", "pantry", "soup.pantry[*]", "soup.Soup", element=True, sites=(SourceLocation("/soup.py", 11, "add"),)
)
OF_LIST = Hop("INDEX", "3", "OBJECT", "list", "", "OBJECT", "soup.Ingredient")
BY_PLACE = Hop("INDEX", "1", "OBJECT", "soup.Ingredient", "", "OBJECT", "dict")
BY_NAME = Hop("ATTRIBUTE", "weights", "OBJECT", "soup.Ingredient", "", "OBJECT", "dict")
SCORES = Hop("ATTRIBUTE", "score", "OBJECT", "soup.Ingredient", "", "TENSOR", "torch.Tensor")


def place(told: Suspect) -> str:
    sources = {"/soup.py": SourceFile("/soup.py", SOUP), "/lib.py": SourceFile("/lib.py", "def (", "library")}
    return place_that_reads_all(told, told.holder, sources)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((OF_LIST, BY_NAME), "soup.py:13"),
        ((OF_LIST, BY_PLACE), "soup.py:13"),
        ((OF_LIST, SCORES), ""),
        ((OF_LIST, replace(BY_PLACE, label="0")), ""),
    ],
)
def test_the_field_that_leads_to_the_tensors_is_to_be_read(path: tuple[Hop, ...], found: str) -> None:
    assert place(suspect(holder=PANTRY, path=path)) == found


@pytest.mark.parametrize(
    "changes",
    [
        {"symptom": "sawtooth"},
        {"through_graph": True},
        {"scalars": True},
        {"pinned_bytes": 4096},
        {"holder": replace(PANTRY, element=False)},
        {"holder": replace(PANTRY, kind="hook")},
    ],
)
def test_nothing_is_asked_of_what_is_to_be_kept_in_another_way(changes: dict[str, object]) -> None:
    assert place(suspect(**{"holder": PANTRY, "path": (OF_LIST, BY_NAME), **changes})) == ""


TASKS = dedent(
    """
    class Tasks:
        def __init__(self):
            self.tests = []
        def add(self, task):
            self.tests.append(task)
        def accuracies(self, net):
            return [(net(each.inputs) == each.labels).float().mean() for each in self.tests]
    def main(net, tasks):
        seen = Tasks()
        for task in tasks:
            seen.add(task)
            print(seen.accuracies(net))
    """
)
TESTS = HoldingReference(
    "attribute", "tests", "seen.tests[*]", "cl.Tasks", element=True, sites=(SourceLocation("/cl.py", 6, "add"),)
)
OF_TESTS = (Hop("INDEX", "3", "OBJECT", "list", "", "OBJECT", "cl.Task"), replace(BY_NAME, label="inputs"))


@pytest.mark.parametrize(("per_step", "facts"), [(0.03, {READ_IN_TURNS: "cl.py:8"}), (0.5, {}), (None, {})])
def test_what_comes_as_seldom_as_tasks_may_be_gone_through_again_and_again(
    per_step: float | None, facts: dict[str, object]
) -> None:
    """Each task is followed by the tests of all so far; a mean over the losses of all steps is no use of them."""
    told = suspect(holder=TESTS, path=OF_TESTS, growth_objects_per_step=per_step)

    found = facts_of_text(told, TESTS, {"/cl.py": SourceFile("/cl.py", TASKS)})

    assert (found, comes_seldom(told)) == (facts, bool(facts))
    assert READ_AFTERWARDS not in found
