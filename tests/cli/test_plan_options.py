from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.test_plan import TRAIN, plan

pytestmark = pytest.mark.slow
OWN = """
import torch


class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter -= group["lr"] * parameter.grad


model = torch.compile(torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)))
optimizer = Own(model.parameters())
for step in range(10):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(64, 256)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_compiled_model_under_autocast_with_an_optimizer_of_its_own_is_told_what_cannot_be_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["--json", "--options", "train.py"], OWN, monkeypatch, tmp_path)

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["options"]}
    assert code == 0
    assert {name: row["why_not"] for name, row in rows.items()} == {
        "save-on-cpu": None,
        "no-foreach": "Own takes no `foreach`",
        "fused": "Own has no fused kernel",
        "set-to-none": "no gradient is kept between steps already",
        "in-place": None,
        "in-place + save-on-cpu": None,
        "accumulation": "smaller batches need the program's option for its batch size: add --batch-arg OPTION",
        "checkpointing": "no block of several modules repeats in a ModuleList or Sequential",
        "autocast-bf16": "the program computes in bfloat16 or float16 already",
        "autocast-fp16": "the program computes in bfloat16 or float16 already",
        "fully-shard-2": None,
        "fully-shard-4": None,
        "fully-shard-8": None,
        "distributed-2": "smaller batches need the program's option for its batch size: add --batch-arg OPTION",
        "data-parallel-2": None,
        "8-bit-state": "torchao is not installed: not run",
        "offloaded-state": "torchao's `CPUOffloadOptimizer` runs on CUDA alone: not run",
    }
    assert rows["save-on-cpu"]["compute"] == 1.0


def test_an_option_under_which_the_program_fails_is_told_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = TRAIN.replace(
        "    optimizer.step()\n", "    assert not optimizer.param_groups[0]['fused']\n    optimizer.step()\n"
    )

    code = plan(["--json", "--options", "train.py"], program, monkeypatch, tmp_path)

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["options"]}
    assert code == 0
    assert rows["fused"]["why_not"] == "train.py ended with exit code 1 after 0 steps: AssertionError"
    assert rows["fused"]["peak_active_bytes"] is None
    weights = 4 * (256 * 1024 + 1024 + 1024 * 256 + 256)
    single = rows["no-foreach"]
    assert (single["part"], len(single["signs"])) == ("optimizer's step", 1)
    assert single["signs"][0].endswith(" foreach operations of the optimizer's steps became 0")
    assert 4 * weights < single["peak_active_bytes"] < 5 * weights
    assert any(name.startswith("no-foreach + ") for name in rows)


def test_a_program_that_trains_nothing_has_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "import torch\nmodel = torch.nn.Linear(8, 8)\nfor _ in range(9):\n    model(torch.randn(4, 8))\n"

    code = plan(["--json", "--options", "train.py"], program, monkeypatch, tmp_path)

    told = json.loads(capsys.readouterr().out)
    assert (code, told["options"]) == (0, [])
    assert told["notes"] == [
        "nothing trains in the two steps: no backward pass and no optimizer ran, and training would need more",
        "options were not tried: no optimizer of the program was seen to step",
    ]


def test_an_option_that_is_named_is_the_only_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["--json", "--option", "save-on-cpu", "train.py"], TRAIN, monkeypatch, tmp_path)

    rows = json.loads(capsys.readouterr().out)["options"]
    assert (code, [row["name"] for row in rows]) == (0, ["save-on-cpu"])
