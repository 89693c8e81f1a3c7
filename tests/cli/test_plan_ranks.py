"""The first of two ranks, planned alone, against two ranks that run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.test_plan import TRAIN, plan

pytestmark = pytest.mark.slow
HEAD = """
import sys
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
model = nn.Sequential(*(nn.Sequential(nn.Linear(256, 300), nn.ReLU(), nn.Linear(300, 256)) for _ in range(3)))
"""
TAIL = """
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    model(torch.randn(16, 256)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
SHARDED = """
from torch.distributed.fsdp import fully_shard
for layer in model:
    fully_shard(layer)
fully_shard(model)
"""
REPLICATED = "model = nn.parallel.DistributedDataParallel(model)\n"
VIEWS = "model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)\n"
WEIGHTS = 4 * 3 * (2 * 256 * 300 + 256 + 300)


def planned(
    arguments: list[str],
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> dict[str, Any]:
    assert plan(["--json", *arguments], program, monkeypatch, folder) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(SHARDED, id="fsdp2"),
        pytest.param(VIEWS, id="ddp with views"),
        pytest.param(REPLICATED, id="ddp", marks=pytest.mark.thorough),
    ],
)
def test_one_rank_alone_needs_what_it_needs_beside_another(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    program = HEAD + made + TAIL
    launched = ["--", sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]

    # in its second step DDP sends its buckets' sizes, of which a thread of gloo lets go when it comes to it
    step = ["--step", "3"]
    alone = planned([*step, "--world-size", "2", "train.py"], program, monkeypatch, tmp_path, capsys)
    beside = planned([*step, *launched, "train.py"], program, monkeypatch, tmp_path, capsys)

    assert (alone["world_size"], beside["world_size"]) == (2, None)
    for figure in ("peak_active_bytes", "by_role", "peak_by_part", "saved_bytes"):
        assert alone[figure] == beside[figure], figure


def test_shards_are_as_large_as_the_number_of_ranks_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = planned(["--world-size", "4", "train.py"], HEAD + SHARDED + TAIL, monkeypatch, tmp_path, capsys)

    state = told["by_role"]["optimizer state"]
    assert WEIGHTS // 2 <= state < WEIGHTS // 2 + 100 * 512  # two for each weight, a fourth of each, rounded to blocks
    assert told["notes"][-2].startswith("collectives did nothing")


def test_a_program_without_ranks_is_told_to_have_been_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = planned(["--world-size", "4", "train.py"], TRAIN, monkeypatch, tmp_path, capsys)

    assert told["notes"] == ["no collective ran in the two steps: this rank was planned as if it were alone"]
