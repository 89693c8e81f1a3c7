"""What `tenure plan --options` costs: clock, processor time and memory, against the program's own.

    python benchmarks/plan_options.py [--layers 12] [--all] [--json FILE]

The program is a transformer of so many layers, 256 wide, with AdamW, run for four steps as it is and then planned under
six options, or all with --all, and the best of them together. Memory is that of all processes together, sampled every
50 ms; pages that several share count once (`Pss` of /proc/PID/smaps_rollup), as runs are copies of one process.
Bounds on two idle cores: 60 s; twice the program's own memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = """
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.embedding = torch.nn.Embedding(2000, 256)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True) for _ in range(layers)
        )
        self.head = torch.nn.Linear(256, 2000)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


batch = int(sys.argv[-1])
model = Model(int(sys.argv[1]))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(int(sys.argv[2])):
    tokens = torch.randint(2000, (batch, 65))
    logits = model(tokens[:, :-1])
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
SIX = ("checkpointing", "autocast-bf16", "save-on-cpu", "no-foreach", "fused", "accumulation")


def resident_of(pid: int) -> int:
    """Bytes of a process and all below it, its share of what several have; 0 of what is over."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    kilobytes = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes * 1024 + sum(resident_of(int(child)) for child in below)


def measure(command: list[str], folder: Path) -> tuple[dict[str, float], str]:
    """Clock and processor seconds and the most bytes of a command, and its output."""
    before, started, most = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    with (folder / "output").open("wb") as output:
        child = subprocess.Popen(command, cwd=folder, stdout=output)
        while child.poll() is None:
            most = max(most, resident_of(child.pid))
            time.sleep(0.05)
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = {"seconds": time.perf_counter() - started, "processor_seconds": used, "bytes": most}
    return told, (folder / "output").read_text()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    program = ["train.py", str(asked.layers)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(PROGRAM)
        plain, _ = measure([sys.executable, *program, "4", "8"], folder)
        tried = ["--options"] if asked.all else [f"--option={name}" for name in SIX]
        options = [*tried, "--json", "--batch-arg", "--batch", "--timeout", "300"]
        planned, output = measure(
            [sys.executable, "-m", "tenure", "plan", *options, *program, "100", "--batch", "8"], folder
        )
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows: list[dict[str, Any]] = json.loads(output)["options"]
    ran = [row["name"] for row in rows if row["why_not"] is None]
    for label, told in (("four steps as they are", plain), (f"the plan, {len(ran)} rows", planned)):
        print(f"{label:<24} {told['seconds']:6.1f} s  {told['processor_seconds']:6.1f} s of processor time  "
              f"{told['bytes'] / 2**20:7.0f} MiB")  # fmt: skip
    print(f"memory: {planned['bytes'] / plain['bytes']:.2f} times the program's; rows: {', '.join(ran)}")
    if asked.json:
        asked.json.write_text(json.dumps({"plain": plain, "planned": planned, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
