"""Programs whose memory grows by design, and some that leak in one phase only, recorded and diagnosed as users do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

TRAINING = """
import random
from collections import OrderedDict, deque

import torch

random.seed(1)
torch.manual_seed(1)


def train(model, optimizer, x):
    output = model(x)
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return output.detach()


model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
"""

HEALTHY = {
    "evicting": """
        cache = OrderedDict()
        for step in range(48):
            cache[step] = torch.randn(32, 64)
            if len(cache) > 12:
                cache.popitem(last=False)
            train(model, optimizer, cache[step])
        """,
    "trimming": """
        recent, rows, last = deque(maxlen=1000), [], []
        for step in range(48):
            output = train(model, optimizer, torch.randn(32, 64))
            recent.append(output)
            rows.append(output)
            rows = rows[-16:]
            last.append(output)
            if len(last) > 24:
                del last[:-16]
        """,
    "replaying": """
        class Replay:
            def __init__(self, capacity):
                self.capacity, self.memory = capacity, []

        replay = Replay(5000)
        for step in range(48):
            replay.memory.append(train(model, optimizer, torch.randn(32, 64)))
            replay.memory = replay.memory[-replay.capacity:]
        """,
    "lengths": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.masks, self.positions = torch.nn.Linear(64, 64), {}, torch.zeros(0, 64)

            def forward(self, x):
                if len(x) not in self.masks:
                    self.masks[len(x)] = torch.ones(len(x), 64)
                if len(x) > len(self.positions):
                    self.positions = torch.randn(len(x), 64)
                return self.linear(x) * self.masks[len(x)] + self.positions[: len(x)]

        net = Net()
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for step in range(64):
            train(net, optimizer, torch.randn(random.choice(range(16, 80, 8)), 64))
        """,
    "growing_model": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.ModuleList([torch.nn.Linear(64, 64)])

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x).relu()
                return x

        net = Net()
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for step in range(1, 65):
            train(net, optimizer, torch.randn(32, 64))
            if step % 8 == 0:
                layer = torch.nn.Linear(64, 64)
                net.layers.append(layer)
                optimizer.add_param_group({"params": list(layer.parameters())})
        """,
}
LEAKING = {
    "second_epoch": """
        kept = []
        for epoch in range(2):
            for step in range(32):
                output = train(model, optimizer, torch.randn(32, 64))
                if epoch == 1:
                    kept.append(output)
        """,
    "second_optimizer": """
        kept = []
        for step in range(28):
            train(model, optimizer, torch.randn(32, 64))
        second = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(37):
            kept.append(train(model, second, torch.randn(32, 64)))
        """,
}

EVALUATING = """
    class Evaluator:
        def __init__(self):
            self.predictions = []

        def evaluate(self):
            self.predictions = []
            model.eval()
            for _ in range(6):
                self.predictions.append(model(torch.randn(256, 64)).exp().sum(1))
            model.train()

    evaluator = Evaluator()
    for step in range(1, 65):
        train(model, optimizer, torch.randn(32, 64))
        if step % {period} == {after}:
            evaluator.evaluate()
    """


def findings_of(program: str, folder: Path) -> list[dict[str, Any]]:
    """What is found with all censuses, however slow the machine is."""
    (folder / "train.py").write_text(TRAINING + textwrap.dedent(program))
    subprocess.run(
        [sys.executable, "-m", "tenure", "run", "--budget", "100", "-o", "out", "train.py"],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=300,
        env=os.environ | {"PYTHONWARNINGS": "", "CUDA_VISIBLE_DEVICES": ""},
    )
    findings: list[dict[str, Any]] = json.loads((folder / "out" / "findings.json").read_text())["findings"]
    return findings


@pytest.mark.parametrize("name", sorted(HEALTHY))
def test_growth_by_design_is_at_most_possible(name: str, tmp_path: Path) -> None:
    found = findings_of(HEALTHY[name], tmp_path)

    assert [each["message"] for each in found if each["confidence"] != "possible"] == []


@pytest.mark.parametrize("name", sorted(LEAKING))
def test_a_leak_of_one_phase_is_found_with_that_phases_rate(name: str, tmp_path: Path) -> None:
    (found,) = findings_of(LEAKING[name], tmp_path)

    assert (found["rule"], found["holder"]["name"]) == ("TN202", "kept")
    assert (found["growth_bytes_per_step"], found["growth_objects_per_step"]) == (32 * 64 * 4, 1.0)


@pytest.mark.parametrize(("period", "after"), [(4, 0), (8, 0), (10, 1)])
def test_what_an_evaluation_leaves_until_the_next_one_is_found_whatever_its_period(
    period: int, after: int, tmp_path: Path
) -> None:
    """Each evaluation's own first forward finds nothing of what the last one left."""
    first, *others = findings_of(EVALUATING.format(period=period, after=after), tmp_path)

    assert (first["rule"], first["holder"]["name"]) == ("TN107", "predictions")
    assert {each["confidence"] for each in others} <= {"possible"}
