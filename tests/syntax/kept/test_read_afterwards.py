"""Containers that a program goes through once its work is done."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.kept.read_afterwards import line_that_reads_all
from tenure.syntax.program.program import Program

FILLED = 8
AT = 11
CHAIN = """
    import torch
    class Chain:
        def __init__(self):
            self.draws = []
        def visit(self, model, score):
            state = {{k: v.clone() for k, v in model.state_dict().items()}}
            self.draws.append({entry})
        def predict(self, model, x):
            mean = 0
            {reading}
            return mean
        def newest(self):
            return self.draws.pop()
        def __iter__(self):
            return iter(self.draws)
"""
MAIN = """
    from chain import Chain
    def main(model, steps):
        chain = Chain()
        for step in range(steps):
            {each_step}
        {afterwards}
"""


def read_at(
    reading: str,
    *,
    entry: str = "state",
    field: str = "",
    each_step: str = "chain.visit(model, step)",
    afterwards: str = "print(chain.predict(model, 3))",
) -> int:
    """The line of the chain's file that reads all; 0 where there is none."""
    chain = SourceFile("chain.py", dedent(CHAIN.format(entry=entry, reading=reading)))
    main = SourceFile("main.py", dedent(MAIN.format(each_step=each_step, afterwards=afterwards)))
    file, line = line_that_reads_all(Program([chain, main]), chain, FILLED, "draws", field)
    assert file == ("chain.py" if line else "")
    return line


@pytest.mark.parametrize(
    "reading",
    [
        "for draw in self.draws: mean = mean + call(model, draw, x)",
        "for n, draw in enumerate(self, start=1): mean = mean + call(model, draw, x)",
        "for draw, weight in zip(self.draws, weights): mean = mean + draw * weight",
        "for draw in self.draws[1:]: mean += draw @ x.T",
        "mean = torch.stack([draw[key] for draw in self.draws]).mean(0)",
        "mean = sum(v.mean() for draw in self.draws for v in draw.values())",
        "for key, value in model.named_parameters(): mean = sum(each[key] for each in list(self.draws))",
        "while self.draws: mean = mean + call(model, self.draws.pop(0), x)",
        "while len(self.draws): draw = self.draws.popleft(); mean = mean + call(model, draw, x)",
        "while self.draws: mean = mean + self.newest()",
        "mean = torch.cat(self.draws).mean(0)",
        "mean = torch.stack(list(self.draws)[1:], 0).mean(0)",
    ],
)
def test_a_container_is_read_through_where_all_entries_are_worked_with_in_the_end(reading: str) -> None:
    assert read_at(reading) == AT


@pytest.mark.parametrize(
    "reading",
    [
        "for draw in self.draws: print(len(draw))",
        "for draw in self.draws: mean = max(mean, draw['loss'])",
        "for draw in self.draws[-3:]: mean = mean + call(model, draw, x)",
        "for draw in sorted(self.draws)[:2]: mean = mean + call(model, draw, x)",
        "mean = call(model, self.draws[-1], x)",
        "mean = call(model, max(self.draws, key=str), x)",
        "for draw in others.draws[-1]: mean = mean + call(model, draw, x)",
        "while self.draws: self.draws.pop(0)",
        "mean = torch.cat(self.draws[-2:]).mean(0)",
        "mean = torch.cat([x, self.draws[0]]).mean(0)",
        "while mean: mean = mean + call(model, self.draws.pop(0), x)",
    ],
)
def test_parts_of_it_and_questions_about_entries_are_not_all(reading: str) -> None:
    assert read_at(reading) == 0


@pytest.mark.parametrize(
    ("each_step", "afterwards"),
    [
        ("chain.visit(model, step); chain.predict(model, step)", "pass"),
        ("chain.visit(model, step); report(chain, model)", "pass"),
        ("chain.visit(model, step)", "pass"),
    ],
)
def test_what_is_read_again_and_again_or_never_is_not_read_in_the_end(each_step: str, afterwards: str) -> None:
    reading = "for draw in self.draws: mean = mean + call(model, draw, x)"
    assert read_at(reading, each_step=each_step, afterwards=afterwards) == 0


@pytest.mark.parametrize(
    ("reading", "read"),
    [
        ("for each in self.draws: mean = mean + call(model, each.weights, x)", True),
        ("mean = average([each.weights for each in sorted(self.draws)])", True),
        ("for one in self.draws: mean = average([each.weights for each in (*best, one)])", True),
        ("for each in self.draws: mean = max(mean, each.score)", False),
        ("best = next(iter(sorted(self.draws))).weights", False),
    ],
)
def test_of_entries_with_fields_the_one_with_the_tensors_is_to_be_read(reading: str, read: bool) -> None:
    assert read_at(reading, entry="Draw(score, state)", field="weights") == (AT if read else 0)


ENSEMBLE = """
    import torch
    def ensemble(model, members, x):
        stacked = {name: torch.stack([each[name] for each in members]) for name in members[0]}
        return call(model, stacked, x)
"""


@pytest.mark.parametrize(
    ("afterwards", "each_step", "line"),
    [
        ("print(ensemble(model, chain.draws, 3))", "chain.visit(model, step)", 4),
        ("print(ensemble(model, x=3, members=list(chain.draws)))", "chain.visit(model, step)", 4),
        ("print(ensemble(model, chain.draws[:2], 3))", "chain.visit(model, step)", 0),
        ("print(ensemble(chain.draws, model, 3))", "chain.visit(model, step)", 0),
        ("pass", "chain.visit(model, step); ensemble(model, chain.draws, 3)", 0),
    ],
)
def test_a_function_that_is_given_the_container_may_read_it(afterwards: str, each_step: str, line: int) -> None:
    chain = SourceFile("chain.py", dedent(CHAIN.format(entry="state", reading="pass")))
    other = SourceFile("ensembles.py", dedent(ENSEMBLE))
    main = dedent(MAIN.format(each_step=each_step, afterwards=afterwards))
    sources = [chain, other, SourceFile("main.py", "from ensembles import ensemble\n" + main)]

    found = line_that_reads_all(Program(sources), chain, FILLED, "draws")
    assert found == (("ensembles.py", line) if line else ("", 0))


def test_a_variable_is_read_through_by_its_own_function() -> None:
    text = """
        def main(model, steps):
            kept = []
            for step in range(steps):
                kept.append(model(step))
            return sum(each * 2 for each in kept)
    """
    source = SourceFile("main.py", dedent(text))
    assert line_that_reads_all(Program([source]), source, 5, "kept") == ("main.py", 6)
    assert line_that_reads_all(Program([source]), source, 1, "kept") == ("", 0)
