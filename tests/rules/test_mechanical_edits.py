"""Edits are checked by doing: the program with the edit prints the same, and the finding is gone."""

from __future__ import annotations

import re

import pytest

from page_runs import run_program
from tenure.model.finding import Edit
from tenure.syntax.edits.line_edits import apply_edits
from test_rule_pages import PROGRAMS, Program, in_groups

WITH_EDIT = ("TN101", "TN102", "TN103", "TN104", "TN105", "TN106", "TN107", "TN204", "TN301", "TN302", "TN405")
WITHOUT = {("TN106", 3), ("TN106", 4), ("TN106", 5), ("TN106", 6), ("TN301", 1), ("TN405", 1), ("TN405", 3)}
"""Programs of these pages to which no mechanical change is right."""
LEAKS = [
    program
    for program in PROGRAMS
    if program.heading == "Leaks" and program.code in WITH_EDIT and (program.code, program.number) not in WITHOUT
]
FIRST = {program.code: program for program in reversed(LEAKS)}
FIXES = {(program.code, program.number): program for program in PROGRAMS if program.heading == "Fix"}

HEAD = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def step(output):
    loss = output.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


"""

OWN = {
    "average-under-a-key-that-a-variable-shows": (
        "TN101",
        """\
class Smoothed:
    def __init__(self):
        self.values = {}

    def update(self, loss, name="loss"):
        old = self.values.get(name, loss)
        self.values[name] = 0.9 * old + 0.1 * loss
        return self.values[name]


def main():
    tracker = Smoothed()
    best = None
    for number in range(24):
        loss = model(torch.randn(128, 64)).square().mean()
        print(step(model(torch.randn(128, 64))))
        smoothed = tracker.update(loss)
        best = smoothed if best is None or smoothed < best else best
    print(round(float(smoothed), 5), round(float(best), 5))


main()
""",
        "self.values[name] = (0.9 * old + 0.1 * loss).detach()",
    ),
    "tuples-in-a-dict-of-lists": (
        "TN101",
        """\
class Log:
    def __init__(self):
        self.rows = {"train": []}


def main():
    log = Log()
    for number in range(24):
        print(step(model(torch.randn(128, 64))))
        log.rows["train"].append((number, model(torch.randn(128, 64)).abs().sum()))


main()
""",
        "append((number, model(torch.randn(128, 64)).abs().sum().detach()))",
    ),
    "several-of-a-tuple": (
        "TN101",
        """\
kept = []
for number in range(24):
    print(step(model(torch.randn(128, 64))))
    output = model(torch.randn(128, 64))
    scale, most = output.square().mean(), output.exp().sum()
    kept.append((number, scale, most.detach(), most))
""",
        "kept.append((number, scale.detach(), most.detach(), most.detach()))",
    ),
    "record-that-each-step-makes-anew": (
        "TN101",
        """\
class Point:
    def __init__(self, raw, smooth):
        self.raw, self.smooth = raw, smooth


class Curve:
    def __init__(self):
        self.last = Point(0.0, torch.zeros(()))

    def update(self, loss):
        self.last = Point(float(loss), 0.8 * self.last.smooth + 0.2 * loss)


def main():
    curve = Curve()
    for number in range(24):
        print(step(model(torch.randn(128, 64))))
        curve.update(model(torch.randn(128, 64)).abs().sum())
    print(round(float(curve.last.smooth), 5), round(curve.last.raw, 5))


main()
""",
        "self.last = Point(float(loss), (0.8 * self.last.smooth + 0.2 * loss).detach())",
    ),
    "frozen-record-that-is-replaced": (
        "TN101",
        """from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Stats:
    mean: object = 0.0
    count: int = 0

    def add(self, loss):
        count = self.count + 1
        return replace(self, mean=self.mean + (loss - self.mean) / count, count=count)


def main():
    stats = Stats()
    for number in range(24):
        print(step(model(torch.randn(128, 64))))
        stats = stats.add(model(torch.randn(128, 64)).abs().sum())
    print(round(float(stats.mean), 5), stats.count)


main()
""",
        "replace(self, mean=(self.mean + (loss - self.mean) / count).detach(), count=count)",
    ),
    "moving-average": (
        "TN105",
        """\
average = torch.zeros(())
for number in range(24):
    print(step(model(torch.randn(128, 64))))
    average = 0.9 * average + 0.1 * model(torch.randn(128, 64)).abs().sum()
print(average.item())
""",
        "average = (0.9 * average + 0.1 * model(torch.randn(128, 64)).abs().sum()).detach()",
    ),
    "sum-from-a-number": (
        "TN101",
        """\
class Meter:
    total = 0.0

    def add(self, value):
        self.total += value * 2


meter = Meter()
for number in range(24):
    print(step(model(torch.randn(128, 64))))
    meter.add(model(torch.randn(128, 64)).abs().sum())
print(float(meter.total))
""",
        "self.total += (value * 2).detach()",
    ),
    "state-unpacked": (
        "TN105",
        """\
class Memory:
    def __init__(self):
        self.mean = torch.zeros(128, 64)

    def update(self, output):
        scale, self.mean = 0.5, 0.5 * self.mean + output


memory = Memory()
for number in range(24):
    print(step(model(torch.randn(128, 64))))
    memory.update(model(torch.randn(128, 64)))
print(memory.mean.sum().item())
""",
        "scale, self.mean = 0.5, (0.5 * self.mean + output).detach()",
    ),
    "read-behind-the-loop": (
        "TN102",
        """\
def main():
    for number in range(24):
        output = model(torch.randn(4096, 64))
        print(step(output))
    print(output.shape)


main()
""",
        "output = None",
    ),
    "idle-inside-a-with-statement": (
        "TN106",
        """\
wide = nn.Linear(64, 4096)


def run_step(number):
    with torch.enable_grad():
        output = wide(torch.randn(256, 64))
        loss = nn.functional.cross_entropy(output, torch.randint(4096, (256,)))
        loss.backward()
        optimizer.step()
    wide.zero_grad()
    return loss.item()


for number in range(24):
    print(run_step(number))
""",
        "del output",
    ),
    "another-name-of-a-deleted-module": (
        "TN401",
        """\
def main():
    encoder = nn.Sequential(nn.Linear(64, 2048), nn.ReLU(), nn.Linear(2048, 64)).requires_grad_(False)
    embed = encoder
    with torch.no_grad():
        prompts = embed(torch.randn(128, 64))
    del encoder
    for number in range(24):
        print(step(model(prompts)))


main()
""",
        "del embed",
    ),
    "cached-by-batch": (
        "TN205",
        """\
import functools


@functools.cache
def same_class(labels):
    return (labels[:, None] == labels[None, :]).float()


for number in range(24):
    labels = torch.randint(10, (512,))
    weight = same_class(labels).mean() + same_class(labels).std()
    print(step(weight * model(torch.randn(128, 64))))
""",
        "@functools.lru_cache(maxsize=2)",
    ),
    "metric-read-at-the-epochs-end": (
        "TN202",
        """\
class Accuracy:
    def __init__(self):
        self.hits = []

    def update(self, output, wanted):
        self.hits.append((output.detach().argmax(-1) == wanted).float())

    def compute(self):
        return torch.cat(self.hits[-512:]).mean()

    def reset(self):
        self.hits.clear()


accuracy = Accuracy()



def learn():
    output = model(torch.randn(4096, 64))
    accuracy.update(output, torch.zeros(4096))
    step(output)


for epoch in range(20):
    learn()
    learn()
    print(epoch, bool(accuracy.compute() < 1))
""",
        "accuracy.reset()",
    ),
    "exceptions-with-their-step": (
        "TN302",
        """\
failures = []


def check(number):
    output = model(torch.randn(512, 64))
    raise ValueError(number)


for number in range(24):
    print(step(model(torch.randn(128, 64))))
    try:
        check(number)
    except ValueError as error:
        failures.append({"step": number, "error": error})
print([str(each["error"]) for each in failures])
""",
        'failures.append({"step": number, "error": error.with_traceback(None)})',
    ),
}


CHOSEN = (
    "average-under-a-key-that-a-variable-shows",
    "tuples-in-a-dict-of-lists",
    "state-unpacked",
    "read-behind-the-loop",
    "exceptions-with-their-step",
)
"""The others are variations for `make thorough`."""


def edits_of(findings: list[dict], code: str) -> list[Edit]:
    remedies = [remedy for finding in findings if finding["rule"] == code for remedy in finding["remedies"]]
    return [Edit(**edit) for remedy in remedies for edit in remedy["edits"]]


def check_edit(code: str, text: str) -> tuple[str, str]:
    """Apply what is offered and run again; gives back the new text, and that of the lines that were changed."""
    pytest.importorskip("torch", reason="the programs train with torch")
    before, printed = run_program(text)
    edits = edits_of(before, code)
    assert edits, [finding["message"] for finding in before]
    edited = apply_edits(text, edits)
    after, printed_after = run_program(edited)
    assert code not in {finding["rule"] for finding in after}
    assert printed_after == printed
    return edited, "\n".join((edit.after or "").strip() for edit in edits)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    in_groups([*FIRST.values()])
    + in_groups([leak for leak in LEAKS if leak not in FIRST.values()], pytest.mark.thorough),
)
def test_the_edit_of_a_leak_on_a_page_ends_it_and_is_its_fix_unless_that_is_made_by_hand(program: Program) -> None:
    edited, _ = check_edit(program.code, program.unmarked_text)
    fix = FIXES[program.code, program.number]
    assert (edited == fix.text) == (not fix.by_hand)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in CHOSEN else pytest.mark.thorough) for name in OWN]
)
def test_the_edit_of_a_small_program_ends_its_leak(name: str) -> None:
    code, text, change = OWN[name]
    _, changed = check_edit(code, HEAD + text)
    assert re.sub(r"\s+", " ", changed).endswith(change)
