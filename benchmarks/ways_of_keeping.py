"""Ways in which Python code keeps an object, each a small program that keeps one tensor more with every step.

    python benchmarks/ways_of_keeping.py                 a line per way and the sum; ways_of_keeping.json with --json
    python benchmarks/ways_of_keeping.py --only "deque"  one of them

The ways are in ways_of_keeping.txt. Right is a first finding that names a line marked `# <-`: where the container is
made, or where it is filled. The programs are written without their marks. What is kept is 64 KiB per step, made for
the purpose (`--graph`: a loss with its graph). A systematic companion of the leak zoo, whose programs are realistic
but few.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = "  # <-"
TENSOR, LOSS = "torch.randn(64, 256)", "net(x).pow(2).mean()"
PROGRAM = """\
import torch
{definitions}


def main():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Tanh(), torch.nn.Linear(256, 64))
    opt = torch.optim.Adam(net.parameters())
{before}
    for step in range(30):
        x = torch.randn(64, 64)
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        value = {value}
{keep}
    print(loss.item())


if __name__ == "__main__":
    main()
"""


@dataclass(frozen=True)
class Way:
    """Definitions of the module, what `main` prepares, and what every step does; good lines carry the mark."""

    name: str
    definitions: str
    before: str
    keep: str

    def program(self, value: str) -> str:
        return PROGRAM.format(
            definitions=self.definitions,
            before=textwrap.indent(self.before, " " * 4),
            keep=textwrap.indent(self.keep, " " * 8),
            value=value,
        )


def read_ways(text: str) -> list[Way]:
    ways = []
    for part in re.split(r"(?m)^\[", text)[1:]:
        name, _, code = part.partition("]\n")
        definitions, keep = code.strip("\n").split("-- step\n")
        definitions, _, before = definitions.partition("-- before\n")
        ways.append(Way(name, definitions.strip("\n"), before.strip("\n"), keep))
    return ways


@dataclass(frozen=True)
class Judged:
    """What became of one way: where the first right finding stands (0: none), and what else is above *possible*."""

    name: str
    rank: int
    others: int
    said: str


def judge(way: Way, value: str) -> Judged:
    with tempfile.TemporaryDirectory(prefix="keeping-") as folder:
        marked = way.program(value).splitlines()
        program = Path(folder) / "train.py"
        program.write_text("\n".join(line.replace(MARK, "") for line in marked) + "\n")
        good = {number for number, line in enumerate(marked, start=1) if line.endswith(MARK)}
        command = [sys.executable, "-m", "tenure", "run", "--experiment-step", "0", "-o", "run", program.name]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=300)
        findings = json.loads((Path(folder) / "run" / "findings.json").read_text())["findings"]
    right = [number for number, each in enumerate(findings, start=1) if names(each["holder"], good)]
    loud = sum(each["confidence"] != "possible" for each in findings)
    return Judged(way.name, right[0] if right else 0, max(0, loud - bool(right)), "; ".join(map(text_of, findings[:2])))


def names(holder: dict[str, Any], good: set[int]) -> bool:
    return (holder["file"] or "").endswith("train.py") and holder["line"] in good


def text_of(finding: dict[str, Any]) -> str:
    holder = finding["holder"]
    return f"{finding['rule']} {holder['expression']} line {holder['line']} {finding['confidence']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--graph", action="store_true", help="keep a loss with its graph instead of a tensor")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time (default 2)")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    ways = read_ways(Path(__file__).with_suffix(".txt").read_text())
    chosen = [way for way in ways if arguments.only in (None, way.name)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        judged = list(pool.map(lambda way: judge(way, LOSS if arguments.graph else TENSOR), chosen))
    for each in judged:
        print(f"{each.name:26} {each.rank or '-':>4} {each.others:>7}  {each.said}")
    first, loud = sum(each.rank == 1 for each in judged), sum(each.others for each in judged)
    print(f"{len(judged)} ways: {first} named first, {loud} other findings above possible")
    if arguments.json:
        arguments.json.write_text(json.dumps([vars(each) for each in judged], indent=1) + "\n")


if __name__ == "__main__":
    main()
