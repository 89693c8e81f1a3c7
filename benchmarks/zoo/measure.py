"""Measure what a zoo program really keeps, without Tenure: every storage that any operation made, by weak reference.

    python benchmarks/zoo/measure.py                     all programs, prints a table
    python benchmarks/zoo/measure.py SLUG ... --write    also writes the figures into truth.toml

The program runs under a dispatch mode that sees the output of every operation, in the backward pass too, and so also
storages that only autograd's own nodes keep. What is alive is summed at each root module call. Figures that come of it:

- growth_bytes_per_step: bytes gained per step in the second half of the run, minus the same of the fixed program
  (symptom sawtooth: of the median step, for it falls again; else last minus middle);
- carried_bytes: bytes alive at the call that are not there in the fixed program, median of the second half;
- peak_drop_bytes (symptom idle only): the most bytes alive after any operation in the second half, minus the same of
  the fixed program, in other words what the mend takes off the peak.

Programs with the symptom cycle run with automatic collection off: what a step leaves behind is weighed, however
often the collector would have come by. A storage's bytes are those at its birth; Python objects and autograd nodes
are not weighed, and so nothing is written for the symptom host.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import runpy
import statistics
import subprocess
import sys
from pathlib import Path

import tomllib

ZOO = Path(__file__).resolve().parent
MARK = "zoo-samples:"
WANTED = {"peak": "carried_bytes", "survivor": "carried_bytes", "idle": "peak_drop_bytes"}


def watch(program: Path, symptom: str) -> None:
    """Run `program` in this process and print the bytes alive at each root module call.

    With the symptom idle: the most bytes alive after any operation between this call and the next.
    """
    import gc

    import torch
    from torch.nn.modules import module as torch_module
    from torch.utils import _pytree
    from torch.utils._python_dispatch import TorchDispatchMode

    alive: dict[int, int] = {}
    total = 0  # of `alive`: never below what lives, for the dead are struck off only in weigh()
    samples: list[int] = []
    depth = [0]

    def note(value):
        nonlocal total
        if isinstance(value, torch.Tensor) and value.layout == torch.strided:
            storage = value.untyped_storage()
            if storage._cdata not in alive:
                alive[storage._weak_ref()] = storage.nbytes()
                total += storage.nbytes()

    class Births(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            _pytree.tree_map_(note, result)
            if symptom == "idle" and samples and total > samples[-1]:
                samples[-1] = max(samples[-1], weigh())
            return result

    def weigh():
        nonlocal total
        for key in [key for key in alive if torch.UntypedStorage._expired(key)]:
            torch.UntypedStorage._free_weak_ref(key)
            total -= alive.pop(key)
        return total

    def enter(module, args):
        if depth[0] == 0:
            samples.append(weigh())
        depth[0] += 1

    def leave(module, args, result):
        depth[0] = max(0, depth[0] - 1)

    torch_module.register_module_forward_pre_hook(enter)
    torch_module.register_module_forward_hook(leave, always_call=True)
    sys.argv = [str(program)]
    sys.path.insert(0, str(program.parent))
    if symptom == "cycle":
        gc.disable()
    with Births():
        try:
            runpy.run_path(str(program), run_name="__main__")
        finally:
            print(MARK, json.dumps(samples), flush=True)


def samples_of(program: Path, symptom: str) -> list[int]:
    """The samples of one run in a fresh process."""
    run = subprocess.run(
        [sys.executable, __file__, "--watch", str(program), "--symptom", symptom],
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith(MARK)]
    if run.returncode != 0 or not lines:
        raise SystemExit(f"{program} failed: {run.stderr.strip()[-2000:]}")
    return json.loads(lines[-1].removeprefix(MARK))


def growth(samples: list[int], steps: int, symptom: str) -> float:
    """Bytes gained per step in the second half."""
    stride = max(1, round(len(samples) / steps))
    by_step = samples[len(samples) // 2 :: stride]
    if symptom == "sawtooth":
        return float(statistics.median(b - a for a, b in itertools.pairwise(by_step)))
    return (by_step[-1] - by_step[0]) / (len(by_step) - 1)


def carried(leaky: list[int], fixed: list[int]) -> int | None:
    """Bytes alive at a call beyond those of the fixed program; None where the runs cannot be laid side by side."""
    if len(leaky) != len(fixed):
        return None
    half = len(leaky) // 2
    return round(statistics.median(a - b for a, b in zip(leaky[half:], fixed[half:])))


def peak_drop(leaky: list[int], fixed: list[int]) -> int:
    """What the fixed program takes off the peak of the second half."""
    return max(leaky[len(leaky) // 2 :]) - max(fixed[len(fixed) // 2 :])


def measure(folder: Path, truth: dict) -> dict:
    """The figures of one program that its symptom allows."""
    leaky = samples_of(folder / "train.py", truth.get("symptom", ""))
    if truth["healthy"]:
        return {"growth_bytes_per_step": growth(leaky, truth["steps"], "growth"), "calls": len(leaky)}
    fixed = samples_of(folder / "fixed.py", truth["symptom"])
    if truth["symptom"] == "idle":
        return {"peak_drop_bytes": peak_drop(leaky, fixed), "calls": len(leaky)}
    rise = growth(leaky, truth["steps"], truth["symptom"]) - growth(fixed, truth["steps"], truth["symptom"])
    return {"growth_bytes_per_step": rise, "carried_bytes": carried(leaky, fixed), "calls": len(leaky)}


def write(path: Path, figures: dict, truth: dict) -> None:
    """Put into truth.toml the figure that its symptom asks for."""
    if truth["symptom"] == "host":
        return
    wanted = WANTED.get(truth["symptom"], "growth_bytes_per_step")
    text = re.sub(
        r"^(growth_bytes_per_step|carried_bytes|peak_drop_bytes) = .*\n", "", path.read_text(), flags=re.MULTILINE
    )
    value = round(figures[wanted], 1)
    text = re.sub(r"^(steps = .*\n)", rf"\g<1>{wanted} = {value}\n", text, count=1, flags=re.MULTILINE)
    path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*", help="programs to measure; all without one")
    parser.add_argument("--write", action="store_true", help="write the figures into truth.toml")
    parser.add_argument("--watch", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--symptom", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.watch:
        watch(arguments.watch.resolve(), arguments.symptom)
        return
    for path in sorted(ZOO.glob("*/truth.toml")):
        truth = tomllib.loads(path.read_text())
        if arguments.slugs and truth["slug"] not in arguments.slugs:
            continue
        figures = measure(path.parent, truth)
        print(f"{truth['slug']:34}", *(f"{key} {value}" for key, value in figures.items()))
        if arguments.write and not truth["healthy"]:
            write(path, figures, truth)


if __name__ == "__main__":
    main()
