"""What `tenure run`, diagnosis included, costs a whole program; and how long a command takes to start.

    python benchmarks/whole_program.py [--seconds 60] [--repeats 3] [--json FILE]

A small transformer trains for about so many seconds of processor time, which is as long by the clock where nothing
else runs, plainly and under `tenure run`, in turn; each ratio is of two runs beside each other, and `A/A` is the ratio
of two plain ones; by the clock, and in processor time, which others at work on the machine hardly change. Then a
program of thirty steps that keeps its losses: what recording, diagnosis and the experiments add to it. Bounds: 1.10 for
a program of a minute (aim 1.03), the plain run's own time plus 5 s for thirty steps, 0.15 s for a command without torch
(aim 0.08).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAM = """
import sys, time, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
kept = []
for step in range(int(sys.argv[1])):
    loss = model(torch.randn(8, 64, 128)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if len(sys.argv) > 2:
        kept.append(loss)
"""
FEW_STEPS = 30
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Modules are compiled once and kept, as where a package is installed."""


@dataclass(frozen=True)
class Taken:
    """By the clock, and of processors, all children of the command included."""

    seconds: float
    processor_seconds: float


def beside(folder: str, number: int, plain: list[str]) -> tuple[Taken, Taken, Taken]:
    """A plain run, one under `tenure run`, and another plain one."""
    watched = [sys.executable, "-m", "tenure", "run", "-o", f"{folder}/{number}", *plain[1:]]
    return take(plain), take(watched), take(plain)


def take(command: list[str]) -> Taken:
    started, before = time.perf_counter(), processor_seconds()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, env=ENVIRONMENT, **quiet)
    return Taken(time.perf_counter() - started, processor_seconds() - before)


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(rows: list[tuple[Taken, Taken, Taken]], what: str) -> dict[str, object]:
    """Medians over rows of one of the two clocks."""
    taken = [[getattr(one, what) for one in row] for row in rows]
    return {
        "plain": statistics.median((first + second) / 2 for first, _, second in taken),
        "added": statistics.median(watched - (first + second) / 2 for first, watched, second in taken),
        "ratio": statistics.median(watched / ((first + second) / 2) for first, watched, second in taken),
        "aa_band": [min(s / f for f, _, s in taken), max(s / f for f, _, s in taken)],
    }


def describe(name: str, measured: dict[str, object]) -> str:
    low, high = measured["aa_band"]
    return (
        f"{name:<22} {measured['plain']:7.1f} s plain  {measured['added']:5.1f} s added  "
        f"{measured['ratio']:.3f} x   A/A {low:.3f} to {high:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "train.py"
        program.write_text(PROGRAM)
        take([sys.executable, "-m", "tenure", "run", "-o", f"{folder}/warm-up", str(program), "5"])
        few, more = (take([sys.executable, str(program), str(steps)]).processor_seconds for steps in (5, 55))
        steps = str(max(50, round(arguments.seconds / max(1e-3, (more - few) / 50))))
        plain = [sys.executable, str(program), steps]
        rows = [beside(folder, number, plain) for number in range(arguments.repeats)]
        leaking = [sys.executable, str(program), str(FEW_STEPS), "keep"]
        short = [beside(folder, arguments.repeats + number, leaking) for number in range(max(3, arguments.repeats))]
    starts = [take([sys.executable, "-m", "tenure", "--version"]).seconds for _ in range(11)]
    clocks = ("seconds", "processor_seconds")
    results = {
        "steps": int(steps),
        "a_minute": {clock: compare(rows, clock) for clock in clocks},
        "thirty_steps": {clock: compare(short, clock) for clock in clocks},
        "command_start_seconds": statistics.median(starts),
    }
    for name, measured in (("a minute", results["a_minute"]), ("thirty steps", results["thirty_steps"])):
        print(describe(f"{name}, clock", measured["seconds"]))
        print(describe(f"{name}, processor", measured["processor_seconds"]))
    print(f"tenure --version       {results['command_start_seconds']:7.3f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
