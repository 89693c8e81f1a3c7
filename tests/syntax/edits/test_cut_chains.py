from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.cut_chains import cut_chain

BY_CALL = 'Best = namedtuple("Best", "score weights before")'
BY_CLASS = "class Best(NamedTuple):\n    score: float\n    weights: dict\n    before: object"
OBJECT = "class Best:\n    def __init__(self, score, weights, before):\n        self.score, self.before = score, before"
KEEPER = """{cls}

class Keeper:
    def offer(self, score, weights):
        self.best = {made}  # here
"""


def cut(cls: str, made: str) -> list[str]:
    source = source_of(KEEPER.format(cls=cls, made=made))
    return [line for line in changes(source, cut_chain([source], source, line_of(source), "best")) if line[0] != "-"]


@pytest.mark.parametrize("cls", [BY_CALL, BY_CLASS])
@pytest.mark.parametrize("argument", ["self.best", "before=self.best"])
def test_a_named_tuple_keeps_the_one_before_it_without_its_own(cls: str, argument: str) -> None:
    (line,) = cut(cls, f"Best(score, weights, {argument})")

    link = "self.best and self.best._replace(before=None)"
    assert line == f"self.best = Best(score, weights, {argument.replace('self.best', link)})  # here"


def test_an_object_lets_go_of_what_the_one_before_it_kept() -> None:
    assert cut(OBJECT, "Best(score, weights, self.best)") == [
        "if self.best.before is not None:",
        "self.best.before.before = None",
    ]


@pytest.mark.parametrize("made", ["Best(score, weights, None)", "dict(self.best)", "self.best"])
def test_what_keeps_nothing_of_its_kind_stays(made: str) -> None:
    assert cut(BY_CALL, made) == []


def test_a_frozen_object_keeps_a_copy_of_the_one_before_it_without_its_own() -> None:
    cls = (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Best:\n    score: float\n    before: object"
    )

    assert cut(cls, "Best(score, before=self.best)") == [
        "import dataclasses",
        "self.best = Best(score, before=self.best and dataclasses.replace(self.best, before=None))  # here",
    ]
