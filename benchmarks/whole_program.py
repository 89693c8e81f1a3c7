"""What `tenure run`, diagnosis included, costs a whole program; and how long a command takes to start.

    python benchmarks/whole_program.py [--seconds 60] [--repeats 3] [--json FILE]

A small transformer trains for about so many seconds, plainly and under `tenure run`, in turn; each ratio is of two
runs beside each other, and `A/A` is the ratio of two plain ones. Then a program of thirty steps that keeps its
losses: what recording, diagnosis and the experiments add to it. Bounds: 1.10 for a program of a minute (aim 1.03),
the plain run's own time plus 5 s for thirty steps, 0.15 s for a command without torch (aim 0.08).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
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


def beside(folder: str, number: int, plain: list[str]) -> tuple[float, float, float]:
    """Seconds of a plain run, of one under `tenure run`, and of another plain one."""
    watched = [sys.executable, "-m", "tenure", "run", "-o", f"{folder}/{number}", *plain[1:]]
    return seconds_of(plain), seconds_of(watched), seconds_of(plain)


def seconds_of(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "train.py"
        program.write_text(PROGRAM)
        few, more = (seconds_of([sys.executable, str(program), str(steps)]) for steps in (5, 55))
        steps = str(max(50, round(arguments.seconds / max(1e-3, (more - few) / 50))))
        plain = [sys.executable, str(program), steps]
        rows = [beside(folder, number, plain) for number in range(arguments.repeats)]
        leaking = [sys.executable, str(program), str(FEW_STEPS), "keep"]
        short = [beside(folder, arguments.repeats + number, leaking) for number in range(max(3, arguments.repeats))]
    starts = [seconds_of([sys.executable, "-m", "tenure", "--version"]) for _ in range(11)]
    results = {
        "steps": int(steps),
        "plain_seconds": statistics.median(first for first, _, _ in rows),
        "ratio": statistics.median(watched / ((first + second) / 2) for first, watched, second in rows),
        "aa_band": [min(s / f for f, _, s in rows), max(s / f for f, _, s in rows)],
        "thirty_steps_plain_seconds": statistics.median((first + second) / 2 for first, _, second in short),
        "thirty_steps_added_seconds": statistics.median(watched - (a + b) / 2 for a, watched, b in short),
        "command_start_seconds": statistics.median(starts),
    }
    print(f"{steps} steps, {results['plain_seconds']:.1f} s plain")
    print(
        f"tenure run / plain   {results['ratio']:.3f}   A/A {results['aa_band'][0]:.3f} to {results['aa_band'][1]:.3f}"
    )
    print(
        f"thirty steps         {results['thirty_steps_plain_seconds']:.1f} s plain, "
        f"{results['thirty_steps_added_seconds']:.1f} s added"
    )
    print(f"tenure --version     {results['command_start_seconds']:.3f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
