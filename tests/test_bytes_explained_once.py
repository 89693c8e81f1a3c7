"""Over small programs with several holders of the same memory: findings never explain more bytes than are alive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.diagnose import diagnose
from tenure.store.recording_file import open_recording, read_census

HEAD = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 64))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)


def step(output):
    loss = output.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


"""

PROGRAMS = {
    "list-and-objects-inside": (
        ["TN107"],
        """\
class Row:
    def __init__(self, output):
        self.output = output
        self.raw = output


rows, by_number = [], {}
for number in range(24):
    step(model(torch.randn(512, 64)))
    row = Row(model(torch.randn(512, 64)))
    rows.append(row)
    by_number[number] = row
    del row
""",
    ),
    "carried-and-kept": (
        ["TN101", "TN102"],
        """\
losses = []
for number in range(24):
    step(model(torch.randn(512, 64)))
    unused = model(torch.randn(4096, 64))
    last = model(torch.randn(512, 64)).abs().sum()
    losses.append(last)
""",
    ),
    "moving-average-of-a-retained-graph": (
        ["TN101"],
        """\
average = torch.zeros(())
for number in range(24):
    loss = model(torch.randn(512, 64)).square().mean()
    loss.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()
    average = 0.9 * average + 0.1 * loss
""",
    ),
    "averages-of-checkpointed-losses": (
        ["TN101"],
        """\
from torch.utils.checkpoint import checkpoint


class Monitor:
    def __init__(self):
        self.values = {}

    def update(self, **losses):
        for name, value in losses.items():
            self.values[name] = 0.9 * self.values.get(name, 0.0) + 0.1 * value


monitor = Monitor()
for number in range(24):
    step(model(torch.randn(512, 64)))
    hidden = checkpoint(model, torch.randn(512, 64), use_reentrant=False)
    monitor.update(error=checkpoint(model, hidden, use_reentrant=False).square().mean())
    del hidden
""",
    ),
    "average-through-a-function-with-tensors-on-ctx": (
        ["TN101"],
        """\
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        ctx.soft = torch.sigmoid(x)
        return x * ctx.soft

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.soft + ctx.x * ctx.soft * (1 - ctx.soft))


average = {}
for number in range(24):
    loss = Gate.apply(model(torch.randn(512, 64))).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average["loss"] = loss if not average else average["loss"].lerp(loss, 0.1)
""",
    ),
    "views-of-outputs-that-a-function-saves": (
        ["TN103"],
        """\
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * torch.sigmoid(x)
        ctx.save_for_backward(y.view(-1))
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad


for number in range(24):
    step(model(torch.randn(512, 64)))
    Gate.apply(model(torch.randn(512, 64)))
""",
    ),
    "heads-left-in-the-optimizer": (
        ["TN404"],
        """\
class Learner:
    def __init__(self):
        self.body = nn.Linear(64, 256)
        self.head = None
        self.optimizer = torch.optim.AdamW(self.body.parameters(), lr=0.01)

    def begin(self):
        self.head = nn.Linear(256, 256)
        self.optimizer.add_param_group({"params": list(self.head.parameters())})

    def learn(self):
        self.head(self.body(torch.randn(64, 64))).square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


learner = Learner()
for task in range(8):
    learner.begin()
    for _ in range(4):
        learner.learn()
""",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_byte_is_explained_once(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the programs train with torch")
    rules, text = PROGRAMS[name]
    (tmp_path / "train.py").write_text(HEAD + text, encoding="utf-8")
    command = [sys.executable, "-m", "tenure", "run", "--no-diagnose", "--profile-step", "0", "-o", "run", "train.py"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    recording = open_recording(tmp_path / "run")
    alive = max(int(read_census(recording, entry).storages.bytes.sum()) for entry in recording.censuses)

    findings = [each for each in diagnose(str(tmp_path / "run")).findings if each.confidence != "possible"]

    assert sorted(each.rule for each in findings) == rules
    assert 0.5 * alive <= sum(each.retained_bytes or 0 for each in findings) <= alive
