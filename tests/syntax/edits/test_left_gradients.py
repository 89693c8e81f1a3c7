from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.left_gradients import drop_behind_step, drop_gradients_of
from tenure.syntax.edits.line_edits import apply_edits

PHASES = """\
def run(self):
    if step == 6:
        self.encoder.requires_grad_(False)
        optimizer = SGD(self.head.parameters())
"""

LOOP = """\
for parameter in model.encoder.parameters():
    parameter.requires_grad = False
train(model)
"""

STEP = """\
def train_step(model, optimizer, samples):
    loss = model(samples).square().mean()
    optimizer.zero_grad()
    loss.backward(create_graph=True)
    along = sum(parameter.grad.sum() for parameter in model.parameters())
    curvature = torch.autograd.grad(along, model.parameters(), retain_graph=True)
    optimizer.step()
    return curvature
"""


def freed(text: str, *others: str) -> str:
    sources = [SourceFile("t.py", text), *(SourceFile(f"{number}.py", other) for number, other in enumerate(others))]
    return apply_edits(text, drop_gradients_of(sources, "encoder"))


def behind_step(text: str, *others: str) -> str:
    sources = [SourceFile("t.py", text), *(SourceFile(f"{number}.py", other) for number, other in enumerate(others))]
    line = next((number for number, line in enumerate(text.splitlines(), 1) if "create_graph" in line), 1)
    return apply_edits(text, drop_behind_step(sources, "t.py", line))


def test_what_is_frozen_loses_its_gradients() -> None:
    assert freed(PHASES) == PHASES.replace("(False)\n", "(False).zero_grad(set_to_none=True)\n")


def test_parameter_by_parameter() -> None:
    assert freed(LOOP) == LOOP.replace("train", "    parameter.grad = None\ntrain")
    text = LOOP.replace("requires_grad = False", "requires_grad_(False)")
    assert freed(text) == text.replace("train", "    parameter.grad = None\ntrain")


@pytest.mark.parametrize(
    "other",
    [
        "self.encoder.requires_grad_(False)",
        "self.head.requires_grad_(True)",
        "self.head.requires_grad_()",
        "parameter.requires_grad = step > 6",
        "setattr(parameter, 'requires_grad', True)",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        "norm = parameter.grad.norm()",
        "optimizer.add_param_group({})",
    ],
)
def test_gradients_that_may_be_wanted_stay(other: str) -> None:
    assert freed(PHASES, other) == PHASES


@pytest.mark.parametrize(
    "text",
    [
        "self.head.requires_grad_(False)\n",
        "self.encoder = Encoder().requires_grad_(False)\n",
        "for p in self.encoder.parameters(): p.requires_grad = False\n",
        "for p in self.parameters():\n    p.requires_grad = False\n",
        "def f(:\n",
    ],
)
def test_where_the_module_is_not_frozen_by_itself_nothing_is_offered(text: str) -> None:
    assert freed(text) == text


def test_gradients_go_behind_the_step_instead_of_before_the_next() -> None:
    assert behind_step(STEP) == STEP.replace("step()\n", "step()\n    optimizer.zero_grad()\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    optimizer.zero_grad()\n", ""),
        ("optimizer.zero_grad()", "model.zero_grad()"),
        ("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"),
        ("optimizer.step()", "optimizer.step(closure)"),
        ("optimizer.step()", "scaler.step(optimizer)"),
        ("optimizer.step()", "if samples:\n        optimizer.step()"),
        ("optimizer.step()", "optimizer.step()\n    optimizer.step()"),
        ("return curvature", "return model.weight.grad"),
        ("def train_step", "def train_step("),
    ],
)
def test_where_gradients_may_be_read_later_nothing_is_offered(old: str, new: str) -> None:
    text = STEP.replace(old, new)
    assert text != STEP
    assert behind_step(text) == text


def test_another_file_that_reads_gradients_keeps_them() -> None:
    assert behind_step(STEP, "norms = [p.grad.norm() for p in model.parameters()]\n") == STEP
