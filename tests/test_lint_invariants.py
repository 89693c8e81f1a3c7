from __future__ import annotations

import textwrap

import pytest

from tenure.lint import LintOptions, lint_sources
from tenure.model.source import SourceFile


def told_lines(text: str) -> list[int]:
    findings, failures = lint_sources([SourceFile("t.py", textwrap.dedent(text))], LintOptions(select=("TN504",)))
    assert failures == ()
    return [each.line for each in findings]


def step_with(body: str, before: str = "") -> str:
    """A program whose step has a body of some lines, from line 8 on."""
    indented = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    return f"""\
import torch
import torch.nn.functional as F
def train(model, criterion, optimizer, batches, size, device, kept, weights, helper):
    {before}
    for step, batch in enumerate(batches):
        loss = criterion(model(batch), batch)
        loss.backward()
{indented}
        optimizer.step()
"""


@pytest.mark.parametrize(
    "body",
    [
        "places = torch.arange(size, device=device)\nloss = loss + F.embedding(places, weights).mean()",
        "loss = model(batch * torch.linspace(0.0, 1.0, 2 * size + 1))",
        "mask = torch.full((size, size), float('-inf'))\nout = model(batch, mask)",
        "shape = batch + torch.zeros(size, size, dtype=torch.float32)[None, :]",
        "eye = torch.eye(size).double()\nloss = criterion(batch @ eye, eye)",
        "table = torch.tensor([1.0, 2.0], device=device)\nprint(table[0])",
        "loss = loss + torch.zeros(64, 64).sum()",
        "row = torch.tensor(weights)\nbatch.index_add_(0, row, batch)",
        "joined = torch.cat([batch, torch.ones(size, 1)], 1)",
        "with torch.no_grad():\n    grid = torch.ones(size).view(1, -1)\n    score = model(batch) * grid",
        "grad = torch.autograd.grad(model(batch), batch, grad_outputs=torch.ones(size))",
    ],
)
def test_a_tensor_that_is_the_same_in_every_step_is_told(body: str) -> None:
    at = next(at for at, line in enumerate(body.split("\n")) if "torch." in line and "no_grad" not in line)
    assert told_lines(step_with(body)) == [8 + at]


@pytest.mark.parametrize(
    "body",
    [
        "noise = torch.randn(size)\nloss = loss + noise.mean()",
        "times = torch.full((size,), step)\nout = model(batch, times)",
        "ones = torch.ones(len(batch))\nout = model(batch, ones)",
        "ones = torch.ones(batch.shape[0])\nout = model(batch, ones)",
        "total = torch.zeros(size)\ntotal += loss\nprint(total)",
        "total = torch.zeros(size)\ntotal[0] = loss\nprint(total)",
        "total = torch.zeros(size)\ntotal.add_(loss)\nprint(total)",
        "total = torch.zeros(size)\nrow = total.view(-1)\nrow.add_(loss)\nprint(total)",
        "total = torch.zeros(size)\nF.relu(total, inplace=True)\nprint(total)",
        "total = torch.zeros(size)\ntorch.add(batch, batch, out=total)\nprint(total)",
        "total = torch.zeros(size)\ntotal = total + loss\nprint(total)",
        "start = torch.zeros(size, requires_grad=True)\nout = model(start)",
        "start = torch.zeros(size)\nstart.requires_grad_()\nout = model(start)",
        "mark = torch.zeros(size)\nkept.append(mark)",
        "kept[step] = torch.zeros(size)",
        "pair = torch.zeros(size), batch\nmodel(*pair)",
        "mark = torch.zeros(size)\nhelper(mark)",
        "mark = torch.zeros(size)\nkept.mark = mark",
        "mark = torch.zeros(size)\nread = lambda: mark\nread()",
        "if step % 100 == 0:\n    loss = loss + torch.zeros(size)",
        "loss = loss + torch.zeros(size) if step else loss",
        "rows = [torch.zeros(size) + row for row in batch]",
        "weights.append(loss.item())\nrow = torch.tensor(weights)\nout = model(row)",
        "helper(weights)\nrow = torch.tensor(weights)\nout = model(row)",
        "size = size + 1\nout = model(torch.zeros(size))",
        "start = torch.nn.Parameter(torch.zeros(size))\nout = model(start)",
        "buffer = torch.empty(size)\nout = model(buffer)",
        "unused = torch.zeros(size)",
        "loss = criterion(model(batch), torch.tensor([0, 1]))",
        "loss = loss + torch.zeros(64, 63).sum()",
    ],
)
def test_what_changes_or_is_changed_or_kept_is_not_told(body: str) -> None:
    assert told_lines(step_with(body)) == []


def test_a_size_that_only_the_initialiser_sets_is_the_same_and_one_that_is_set_later_is_not() -> None:
    program = """\
import torch
class Trainer:
    def __init__(self, model):
        self.model, self.size, self.length = model, 8, 8
    def fit(self, batches):
        for batch in batches:
            self.length = self.length + 1
            loss = self.model(batch, torch.arange(self.size)).mean()
            loss = loss + self.model(batch, torch.arange(self.length)).mean()
            loss.backward()
"""
    assert told_lines(program) == [8]


def test_what_a_function_of_the_program_does_with_it_decides() -> None:
    program = """\
import torch
def read(values, mask):
    return values * mask
def write(values, mask):
    mask[0] = values
    return mask
def train(model, batches, size):
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        read(batch, torch.ones(size))
        write(batch, torch.ones(size))
"""
    assert told_lines(program) == [11]


def test_a_loop_that_runs_no_module_may_make_what_it_likes() -> None:
    program = """\
import torch
def sizes(numbers, size):
    for number in numbers:
        print(number * torch.ones(size))
"""
    assert told_lines(program) == []
