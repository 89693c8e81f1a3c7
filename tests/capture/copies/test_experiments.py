"""Experiments on real processes: what is predicted, what really goes, and that the program notices nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tenure.store.experiments_file import EXPERIMENTS_FOLDER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a copy of a process needs fork"),
]

TRAIN = """
import torch

class Trainer:
    def __init__(self):
        self.model = torch.nn.Linear(64, 64)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.history = []

    def fit(self, steps):
        for _ in range(steps):
            batch = torch.randn(32, 64)
            loss = self.model(batch).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.keep(batch)

    def keep(self, batch):
        self.history.append(batch)
"""
BATCH_BYTES = 32 * 64 * 4
NUM_STEPS = 24
LAST_CENSUS = 22
"""The last of so many steps that a census comes after."""
HELD_BYTES = (LAST_CENSUS - 1) * BATCH_BYTES
"""What is told of then: the newest batch is its step's own."""


def run(folder: Path, program: str, *options: str) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[str]]:
    """The findings and the run of a program, its memory kept as TRAIN does; censuses may cost what they cost, for what
    a finding claims is what the last one saw."""
    (folder / "train.py").write_text(program)
    always = ("--profile-step", "0", "--budget", "100")
    command = [sys.executable, "-m", "tenure", "run", *always, *options, "-o", "run", "train.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return json.loads((folder / "run" / "findings.json").read_text())["findings"], done


def tried(finding: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in finding["evidence"] if item["kind"] == "experiment"]


def test_what_a_global_holds_is_dropped_after_the_program_has_ended(tmp_path: Path) -> None:
    (finding,), done = run(tmp_path, TRAIN + "\ntrainer = Trainer()\ntrainer.fit(24)\nprint('done')\n")
    later = (NUM_STEPS - LAST_CENSUS + 1) * BATCH_BYTES
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert tried(finding) == [
        {
            "kind": "experiment",
            "done": "drop",
            "predicted_bytes": HELD_BYTES,
            "freed_bytes": HELD_BYTES,
            "other_bytes": later,
        }
    ]
    assert "dropping just these freed 168.00 KiB of 168.00 KiB, in a copy of the process" in " ".join(
        done.stderr.split()
    )


def test_what_a_function_holds_is_dropped_at_a_step_that_is_asked_for(tmp_path: Path) -> None:
    program = TRAIN + "\ndef main():\n    Trainer().fit(24)\n    print('done')\n\nmain()\n"
    (finding,), done = run(tmp_path, program, "--experiment-step", "20")
    (result,) = tried(finding)
    assert (done.stdout, result["done"]) == ("done\n", "drop")
    assert (result["freed_bytes"], result["predicted_bytes"]) == (19 * BATCH_BYTES, 20 * BATCH_BYTES)


def test_of_a_program_that_is_stopped_the_last_but_one_step_is_asked(tmp_path: Path) -> None:
    program = TRAIN + "\ndef main():\n    Trainer().fit(100)\n\nmain()\n"
    (finding,), _ = run(tmp_path, program, "--stop-after", "16")
    (result,) = tried(finding)
    assert (result["freed_bytes"], result["predicted_bytes"]) == (14 * BATCH_BYTES, 15 * BATCH_BYTES)


def test_both_holders_are_dropped_where_a_finding_names_both(tmp_path: Path) -> None:
    program = TRAIN.replace("self.history = []", "self.history, self.other = [], {}").replace(
        "self.history.append(batch)", "self.history.append(batch)\n        self.other[len(self.other)] = batch"
    )
    findings, _ = run(tmp_path, program + "\ntrainer = Trainer()\ntrainer.fit(24)\n")
    (finding,) = [each for each in findings if tried(each)]
    assert {cut["name"] for cut in finding["cut"]} == {"history", "other"}
    (result,) = tried(finding)
    assert result["freed_bytes"] == result["predicted_bytes"] == HELD_BYTES


def test_a_collection_is_tried_where_a_ring_waits_for_the_collector(tmp_path: Path) -> None:
    program = TRAIN.replace("self.history.append(batch)", "ring = [batch]\n        ring.append(ring)")
    findings, _ = run(tmp_path, "import gc\ngc.disable()\n" + program + "\ntrainer = Trainer()\ntrainer.fit(24)\n")
    (finding,) = [each for each in findings if each["rule"] == "TN301"]
    assert {result["done"]: result["freed_bytes"] == result["predicted_bytes"] > 0 for result in tried(finding)} == {
        "drop": True,
        "collect": True,
    }


def test_a_ring_below_what_is_dropped_goes_with_the_next_collection(tmp_path: Path) -> None:
    program = TRAIN.replace("append(batch)", "append([batch])\n        self.history[-1].append(self.history[-1])")
    (finding,), done = run(tmp_path, program + "\ntrainer = Trainer()\ntrainer.fit(24)\n")
    (result,) = tried(finding)
    assert (result["freed_bytes"], result["collected_bytes"]) == (0, result["predicted_bytes"])
    assert "freed 0 B of 168.00 KiB, and 168.00 KiB more once the collector ran" in " ".join(done.stderr.split())


GRADIENTS_WITH_GRAPH = """
import torch, warnings
warnings.filterwarnings("ignore")

class Learner:
    def __init__(self):
        self.encoder, self.head = torch.nn.Linear(64, 64), torch.nn.Linear(64, 1)
        self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.1)

    def fit(self, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = self.head(self.encoder(torch.randn(32, 64)).tanh()).square().mean()
            loss.backward(create_graph=True)
            self.optimizer.step()

def main():
    Learner().fit(30)

main()
"""


def test_gradients_that_carry_a_graph_are_dropped_and_no_module_that_has_them(tmp_path: Path) -> None:
    findings, _ = run(tmp_path, GRADIENTS_WITH_GRAPH, "--experiment-step", "26")
    results = [result for finding in findings if finding["rule"] == "TN104" for result in tried(finding)]
    assert [result["freed_bytes"] >= 0.9 * result["predicted_bytes"] > 0 for result in results] == [True]


RING_HOLDS_RING = """
import gc, torch
gc.disable()

class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs):
        ctx.kept = inputs * 2
        return ctx.kept

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient

def main():
    net = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(24):
        optimizer.zero_grad()
        Keep.apply(Keep.apply(Keep.apply(net(torch.randn(32, 64))))).sum().backward()
        optimizer.step()

main()
"""


def test_rings_that_hold_rings_are_collected_until_none_is_left(tmp_path: Path) -> None:
    findings, _ = run(tmp_path, RING_HOLDS_RING)
    (finding,) = [each for each in findings if each["rule"] == "TN103"]
    assert {result["done"]: result["freed_bytes"] == result["predicted_bytes"] > 0 for result in tried(finding)} == {
        "drop": True,
        "collect": True,
    }


def test_the_program_sees_nothing_of_a_copy_in_which_its_objects_die(tmp_path: Path) -> None:
    watched = """
import os, weakref, tempfile
folder = tempfile.TemporaryDirectory(dir='.')
class Kept:
    def __init__(self, batch):
        self.batch, self.log = batch, open('kept.log', 'a')
    def __del__(self):
        print('a kept batch died', file=self.log, flush=True)
"""
    program = watched + TRAIN.replace("self.history.append(batch)", "self.history.append(Kept(batch))")
    end = """
def main():
    trainer = Trainer()
    trainer.fit(20)
    trainer.history[0].folder = folder
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print('no child,', os.path.exists(folder.name), os.path.getsize('kept.log'), flush=True)
    trainer.history[0].folder = None
    os._exit(0)

main()
"""
    findings, done = run(tmp_path, program + end, "--experiment-step", "16")
    assert done.stdout == "no child, True 0\n"
    assert [each["freed_bytes"] == each["predicted_bytes"] for each in tried(findings[0])] == [True]


ABORTS = """
import os
class Kept:
    def __init__(self, batch):
        self.batch = batch
    def __del__(self):
        os.abort()
"""


def test_a_destructor_that_ends_the_copy_ends_nothing_else(tmp_path: Path) -> None:
    program = ABORTS + TRAIN.replace("self.history.append(batch)", "self.history.append(Kept(batch))")
    end = "\ntrainer = Trainer()\ntrainer.fit(20)\nprint('done', flush=True)\nos._exit(0)\n"
    findings, done = run(tmp_path, program + end, "--experiment-step", "16")
    assert (done.returncode, done.stdout) == (0, "done\n")
    (result,) = tried(findings[0])
    assert (result["freed_bytes"], result["failure"]) == (None, "the copy of the process did not survive it")


@pytest.mark.parametrize("options", [["--experiment-step", "0"], ["--no-diagnose"]], ids=["none", "no diagnosis"])
def test_no_copy_is_left_where_none_is_wanted(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "train.py").write_text(TRAIN + "\ntrainer = Trainer()\ntrainer.fit(8)\n")
    command = [sys.executable, "-m", "tenure", "run", *options, "-o", "run", "train.py"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=True)
    assert not (tmp_path / "run" / EXPERIMENTS_FOLDER).exists()


def test_no_copy_outlives_the_run(tmp_path: Path) -> None:
    run(tmp_path, TRAIN + "\ntrainer = Trainer()\ntrainer.fit(12)\n", "--experiment-step", "8")
    folder = tmp_path / "run" / EXPERIMENTS_FOLDER
    assert {path.name for path in folder.glob("*/*")} == {"results.json"}
    until = time.monotonic() + 60
    while (left := _processes_in(tmp_path)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


def _processes_in(folder: Path) -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/cwd") if _leads_to(path, folder)]


def _leads_to(link: Path, folder: Path) -> bool:
    try:
        return link.readlink() == folder
    except OSError:
        return False
