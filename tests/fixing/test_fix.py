"""`tenure fix` on whole programs: what helps and changes nothing stays, everything else is said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tenure.fixing.mirror import LARGEST_COPY

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "fix.md").read_text(encoding="utf-8")
HEALTHY = """
import torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8)).sum()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""
TWO_NAMES = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
first, second, rows = [], [], []
for step in range(24):
    inputs = torch.randn(64, 64)
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    kept = model(inputs).square().mean()
    first.append(kept)
    second.append(kept)
    rows.append(inputs[0])
    del loss, kept
print(len(first), len(second))
"""


def tenure(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"PYTHONWARNINGS": "", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "COLUMNS": "110"}
    return subprocess.run(
        [sys.executable, "-m", "tenure", *arguments],
        cwd=folder,
        env=os.environ | own | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def fix_as_json(folder: Path, *arguments: str) -> dict[str, Any]:
    done = tenure(folder, "fix", "--json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_page_is_what_happens(tmp_path: Path) -> None:
    program, patch = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1] for kind in ("py", "diff"))  # type: ignore[index]
    (tmp_path / "train.py").write_text(program)

    done = tenure(tmp_path, "fix", "-o", "fix.patch", "train.py")

    assert done.returncode in (0, 1), done.stderr
    assert "1 edit kept, verified in 3 runs" in done.stdout
    assert re.search(r"parameters +bit-identical", done.stdout)
    assert re.search(r"outputs +the same", done.stdout)
    written = (tmp_path / "fix.patch").read_text()
    assert written.partition("\n")[2] == patch
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fix.patch", "train.py"]
    assert (tmp_path / "train.py").read_text() == program

    under = tenure(tmp_path, "run", "--with", "fix.patch", "-o", "out", "--json", "found.json", "train.py")
    found = json.loads((tmp_path / "found.json").read_text())
    assert under.returncode == 0
    assert "TN101" not in [finding["rule"] for finding in found["findings"]]

    applied = subprocess.run(["git", "apply", "fix.patch"], cwd=tmp_path, capture_output=True, text=True)
    assert (applied.returncode, applied.stderr) == (0, "")
    assert ".detach())" in (tmp_path / "train.py").read_text()


def test_the_result_as_json_has_figures_before_and_after(tmp_path: Path) -> None:
    program = re.search(r"```py\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
    before_text = program.replace('"model.pt"', '__file__.replace("train.py", "model.pt")')
    (tmp_path / "train.py").write_text(before_text)
    with (tmp_path / "model.pt").open("wb") as file:
        file.truncate(LARGEST_COPY + 1)

    result = fix_as_json(tmp_path, "--apply", "train.py")

    assert (tmp_path / "model.pt").stat().st_size == LARGEST_COPY + 1
    assert result["compared"][1:] == ["stdout: 16 words", "files: model.pt"]

    before, after = result["before"], result["after"]
    (edit,) = result["edits"]
    assert (result["verified"], result["parameters_equal"], result["outputs_equal"]) == (True, True, True)
    assert (result["deterministic"], result["runs"], before["steps"], after["steps"]) == (True, 3, 40, 40)
    assert before["findings"][0]["holder"]["file"] == str(tmp_path / "train.py")
    assert before["growth_bytes_per_step"] > 100 * after["growth_bytes_per_step"]
    assert before["peak_bytes"] > after["peak_bytes"] > 0
    assert before["alive_bytes"] > after["alive_bytes"] > 0
    assert (edit["rule"], edit["kept"], edit["told_by"], edit["line"]) == ("TN101", True, "recording", 14)
    assert "growth falls from" in edit["why"]
    assert (tmp_path / "train.py").read_text() == before_text.replace("mean())", "mean().detach())")


def test_a_healthy_program_gets_no_patch(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEALTHY)

    done = tenure(tmp_path, "fix", "-o", "fix.patch", "-m", "train")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nothing found: there is nothing to fix\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.py"]


def test_what_hides_behind_another_leak_is_fixed_in_later_rounds(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TWO_NAMES)

    result = fix_as_json(tmp_path, "train.py")

    kept = {edit["after"].strip() for tried in result["edits"] if tried["kept"] for edit in tried["edits"]}
    assert kept == {"first.append(kept.detach())", "second.append(kept.detach())", "rows.append(inputs[0].clone())"}
    assert (result["verified"], result["parameters_equal"], result["outputs_equal"]) == (True, True, True)
    assert result["after"]["growth_bytes_per_step"] < 1000 < 100_000 < result["before"]["growth_bytes_per_step"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import torch\nraise ValueError('no data')\n", "exit code 1 as it is: ValueError: no data; --in-place runs"),
        (
            "import torch\nraise OSError('I/O error (os error 2)')\n",
            "what it writes goes to a folder aside here, where system",
        ),
        (
            "import torch\ninput('which? ')\n",
            "EOFError: EOF when reading a line; its input is empty here: give each run",
        ),
        ("print('no torch')\n", "nothing was recorded of the program: no step was seen"),
    ],
)
def test_a_program_that_cannot_be_compared_is_one_line(program: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program)

    done = tenure(tmp_path, "fix", "train.py")

    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_program_that_never_ends_is_ended(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import time, torch\nwhile True: time.sleep(1)\n")

    done = tenure(tmp_path, "fix", "--timeout", "5", "train.py")

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("did not end within 5 s; bound it with --steps N")


def test_a_program_that_is_not_deterministic_is_said_so_and_nothing_is_called_verified(tmp_path: Path) -> None:
    program = re.search(r"```py\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
    (tmp_path / "train.py").write_text(program.replace("manual_seed(0)", "seed()"))

    result = fix_as_json(tmp_path, "train.py")

    assert (result["deterministic"], result["verified"], result["parameters_equal"]) == (False, False, None)
    assert result["notes"][0].startswith(
        "the program is not deterministic: its parameters differ between two unchanged"
    )
    assert result["outputs_equal"] is None


SEEDLESS = """
import random
import numpy, torch
print(random.random(), numpy.random.rand(), torch.rand(1).item(), hash("x"))
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model(torch.randn(2, 2)).sum().backward()
    optimizer.step()
open("written.txt", "w").write(str(random.random()))
"""


def test_a_program_that_sets_no_seed_starts_each_run_alike_and_its_files_are_compared(tmp_path: Path) -> None:
    from tenure.fixing.runs import Order, Runner

    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "train.py").write_text(SEEDLESS)
    runner = Runner(Order((sys.executable, "train.py"), tmp_path / "tree", tmp_path / "scratch"))

    first, second = runner.run(watched=False), runner.run(watched=False)

    assert (first.exit_code, first.stdout, first.written) == (0, second.stdout, second.written)
    assert list(first.written) == ["written.txt"]
    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == ["train.py"]


BATCHED = """
import argparse, torch
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
size = parser.parse_args().batch_size
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
history = []
for step in range(100):
    inputs = torch.randn(size, 64)
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    history.append(model(inputs).square().mean())
"""


def test_the_largest_batch_within_a_budget_is_searched_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BATCHED)

    result = fix_as_json(
        tmp_path, "--steps", "12", "--batch-arg", "--batch-size", "--memory", "1MiB", "train.py", "--batch-size", "32"
    )

    before, after = result["before"], result["after"]
    assert result["verified"] is True
    assert 0 < before["largest_batch"] < after["largest_batch"]
    assert before["samples_per_second"] > 0 < after["samples_per_second"]
    assert "largest batch: within 1.00 MiB of tensor memory in 12 steps" in result["notes"]


PROBED = """
from functools import partial
import torch

class Probe:
    def attach(self, module, mask):
        module.register_forward_hook(partial(self.look, mask))

    def look(self, mask, module, args, output):
        self.seen = (output * mask).sum().item()

    def close(self):
        print(f"seen {self.seen:.4f}")

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 256), torch.nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
probe = Probe()
for step in range(24):
    probe.attach(model[0], torch.rand(64, 256))
    optimizer.zero_grad()
    model(torch.randn(64, 16)).square().mean().backward()
    optimizer.step()
probe.close()
"""


def test_ways_that_source_cannot_tell_apart_are_tried_in_turn_until_a_run_proves_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROBED)

    result = fix_as_json(tmp_path, "train.py")

    tried = [(edit["rule"], edit["told_by"], edit["kept"], edit["why"]) for edit in result["edits"]]
    assert [each[:3] for each in tried] == [("TN303", "trial", False), ("TN303", "trial", True)]
    assert tried[0][3] == "nothing was freed by it"
    assert "self._hook_handle = module.register_forward_hook(partial(self.look, mask))" in result["patch"]
    assert (result["verified"], result["parameters_equal"], result["outputs_equal"]) == (True, True, True)
    assert result["notes"][0].startswith("what is kept by trial rests on this run alone")
