"""A sum of 300,000 nodes with a census every 100 steps, then freed by the program: no crash, and what a census costs.

    python benchmarks/long_chain.py [--nodes 300000] [--every 100] [--json FILE]

`tenure run` watches a program that does nothing but `total = total + weight` and an optimizer step. torch frees a
chain of nodes that were looked at recursively, on the C stack; without a bound on how many are looked at, this
program ends in SIGSEGV. Exit code and output are compared with a plain run. Needs about 0.3 MB of disk per census.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PROGRAM = """
import sys, torch
torch.set_num_threads(1)
weight = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([weight], lr=0.1)
total = torch.zeros(1)
for step in range(int(sys.argv[1])):
    total = total + weight
    optimizer.step()
print("sum", total.item())
del total
print("freed", weight.item())
"""
PARTS = 6


def read_rows(recording: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of all censuses, in order, and what the recorder noted of failures."""
    text = (recording / "rows-000001.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines() if line]
    failures = [row["text"] for row in rows if row["kind"] == "note" and row["level"] == "failure"]
    return [row for row in rows if row["kind"] == "census"], failures


def describe_census(file: Path) -> dict[str, Any]:
    """How much of the chain the last census holds, and whether it says that there is more."""
    from tenure.model.heap import NodeKind
    from tenure.store.census_file import read_census

    census = read_census(file)
    kinds = census.nodes.kind.tolist()
    return {
        "autograd_nodes": kinds.count(int(NodeKind.AUTOGRAD)),
        "says_the_graph_goes_on": any("deeper than can be walked" in note for note in census.notes),
        "bytes": file.stat().st_size,
    }


def measure(nodes: int, every: int, folder: Path) -> dict[str, Any]:
    program, recording = folder / "program.py", folder / "recording"
    program.write_text(PROGRAM)
    steps = ",".join(str(step) for step in range(every, nodes + 1, every))
    own = ["-m", "tenure", "run", "--no-diagnose", "-o", str(recording), "--census-at", steps]
    plain = subprocess.run([sys.executable, str(program), str(nodes)], capture_output=True, text=True)
    watched = subprocess.run([sys.executable, *own, str(program), str(nodes)], capture_output=True, text=True)
    censuses, failures = read_rows(recording)
    seconds = [row["seconds"] for row in censuses]
    part = max(1, len(seconds) // PARTS)
    return {
        "nodes": nodes,
        "censuses": len(censuses),
        "exit_codes": [plain.returncode, watched.returncode],
        "same_output": (plain.stdout, plain.stderr) == (watched.stdout, watched.stderr),
        "stderr": watched.stderr,
        "failures": failures,
        "median_seconds_by_part": [statistics.median(seconds[at : at + part]) for at in range(0, part * PARTS, part)],
        "census_seconds": sum(seconds),
        "last_census": describe_census(recording / censuses[-1]["file"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=300_000)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(arguments.nodes, arguments.every, Path(folder))
    last, parts = result["last_census"], result["median_seconds_by_part"]
    print(f"{result['nodes']:,} nodes, {result['censuses']:,} censuses of {result['census_seconds']:.0f} s in all")
    print(f"exit codes plain and watched  {result['exit_codes']}, same output: {result['same_output']}")
    print(f"one census, by sixths         {', '.join(f'{1000 * part:.0f}' for part in parts)} ms")
    print(f"nodes in the last census      {last['autograd_nodes']:,}, said to go on: {last['says_the_graph_goes_on']}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"format": 1, **result}, indent=1) + "\n")
    if not result["same_output"] or result["exit_codes"] != [0, 0] or result["failures"]:
        sys.exit(f"the program came to harm: {result['exit_codes']} {result['failures']}\n{result['stderr']}")


if __name__ == "__main__":
    main()
