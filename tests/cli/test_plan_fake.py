"""`tenure plan --fake`: the same figures, without the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.test_plan import ATTENTION, TRAIN, plan
from cli.test_plan_ranks import HEAD, SHARDED, TAIL, planned
from tenure.planning.largest_size import widened

pytestmark = pytest.mark.slow
LARGE = """
import torch
from torch import nn

model = nn.Sequential(*(nn.Linear(1 << 18, 1 << 18, bias=False) for _ in range(2))).to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    loss = model(torch.randn(4, 1 << 18).to(torch.bfloat16)).float().square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(f"{loss.item():.3f}")
"""
ROUTES = """
import torch
from torch import nn

gate = nn.Linear(8, 2)
optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
for step in range(10):
    rows = gate(torch.randn(4, 8)).argmax(-1).nonzero()
"""
FIGURES = ("steps", "peak", "peak_active_bytes", "peak_reserved_bytes", "by_role", "by_module", "saved_bytes")


@pytest.mark.parametrize(
    ("asked", "program"),
    [
        pytest.param([], TRAIN, id="as it is"),
        pytest.param(["--world-size", "4"], HEAD + SHARDED + TAIL, id="one rank of four"),
    ],
)
def test_the_plan_is_the_one_that_memory_gives(
    asked: list[str],
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    faked = planned([*asked, "--fake", "train.py"], program, monkeypatch, tmp_path, capsys)
    as_it_is = planned([*asked, "train.py"], program, monkeypatch, tmp_path, capsys)

    assert {name: faked[name] for name in FIGURES} == {name: as_it_is[name] for name in FIGURES}


def test_the_longest_input_is_the_one_that_memory_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--device-memory", "128MiB", "--length-arg", "--length", "--length-sizes", "16,32,48,300", "train.py"]
    asked += ["--batch", "2", "--length", "8"]

    faked = planned(["--fake", *asked], ATTENTION, monkeypatch, tmp_path, capsys)["longest"]

    real = planned(asked, ATTENTION, monkeypatch, tmp_path, capsys)["longest"]
    # with memory a run at the answer may take too much of it or too long: bounds are wider then
    bounds = widened(faked["least"], faked["most"]) if real["is_widened"] else (faked["least"], faked["most"])
    assert (real["least"], real["most"]) == bounds
    assert (faked["confirmed"], faked["is_widened"]) == (faked["least"], False)
    assert faked["predicted_bytes"] == faked["found_bytes"]
    assert real["predicted_bytes"] == real["found_bytes"]


def test_a_model_of_a_tebibyte_is_planned_and_what_was_made_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = planned(["--fake", "train.py"], LARGE, monkeypatch, tmp_path, capsys)

    weights = 2 * 2 * (1 << 36)
    roles = told["by_role"]
    assert [roles[name] for name in ("parameter", "gradient", "optimizer state")] == [weights, weights, 2 * weights]
    assert [note for note in told["notes"] if "no values" in note and "at train.py:13 in <module>" in note]


def test_a_program_that_needs_values_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["--fake", "train.py"], ROUTES, monkeypatch, tmp_path)

    told = capsys.readouterr().err.splitlines()
    assert (code, told[1:]) == (
        2,
        [
            "tenure: train.py cannot be planned with --fake: train.py:8 in <module>: what aten.nonzero.default gives "
            "depends on values, and fake tensors have none"
        ],
    )


def test_a_plan_that_the_hosts_memory_ends_proposes_fakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = plan(["train.py"], "import torch\ntorch.nn.Linear(1 << 24, 1 << 24)\n", monkeypatch, tmp_path)

    told = capsys.readouterr().err.splitlines()
    assert code == 2
    assert told[1].endswith("; --fake plans it without memory for its tensors")
