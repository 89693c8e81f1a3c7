"""What `tenure.release` of a pipeline of 1,000 submodules costs, verification included.

    python benchmarks/release_cost.py [--repeats 5] [--with transformers,lightning] [--json FILE]

Bound: 0.2 s and four collections of the same process, each timed beside the release that it is compared with: by the
clock, and by the thread's own processor time, in which other processes take no part. Three processes: torch alone, one
that has imported libraries besides, and one with a million further objects. In each the pipeline goes clean, and once
more with a checkpoint dict that keeps all of its memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import torch
from torch import nn

FIXED_SECONDS, COLLECTIONS = 0.2, 4


class Block(nn.Module):
    """Three submodules: with itself four."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)


class Pipeline:
    """A pipeline with three models, and a list and a cache that hold on to parts of them."""

    def __init__(self) -> None:
        self.text_encoder = nn.Sequential(*(Block(16) for _ in range(60)))
        self.unet = nn.Sequential(*(Block(16) for _ in range(150)))
        self.vae = nn.Sequential(*(Block(16) for _ in range(40)))
        self.offloadable = list(self.unet)
        self.cache = {"encoder": self.text_encoder}


def measure(held: bool) -> dict[str, float]:
    import tenure

    pipe = Pipeline()
    parts = (pipe.text_encoder, pipe.unet, pipe.vae)
    submodules = sum(1 for part in parts for _ in part.modules())
    expected = sum(item.untyped_storage().nbytes() for part in parts for item in part.parameters())
    state = {f"{number}.{key}": value for number, part in enumerate(parts) for key, value in part.state_dict().items()}
    if not held:
        state.clear()
    del parts
    gc.collect()
    started, own_started = time.perf_counter(), time.thread_time()
    gc.collect()
    collection, own_collection = time.perf_counter() - started, time.thread_time() - own_started
    started, own_started = time.perf_counter(), time.thread_time()
    outcome = tenure.release(pipe)
    seconds, own_seconds = time.perf_counter() - started, time.thread_time() - own_started
    assert outcome.expected_bytes == expected, outcome
    assert outcome.complete is not held, outcome
    assert held == bool(state), "the checkpoint must live until here"
    return {
        "collection": collection,
        "release": seconds,
        "of_bound": seconds / bound(collection),
        "own_of_bound": own_seconds / bound(own_collection),
        "submodules": submodules,
        "objects": len(gc.get_objects()),
    }


def bound(collection: float) -> float:
    return FIXED_SECONDS + COLLECTIONS * collection


def measure_here(repeats: int, held: bool) -> dict[str, float]:
    rows = [measure(held) for _ in range(repeats)]
    found = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    most = {f"{key}_most": max(row[key] for row in rows) for key in ("of_bound", "own_of_bound")}
    return found | most


def _shares(found: dict[str, float]) -> str:
    """Medians and, in brackets, the worst: by the clock, by processor time."""
    return (
        f"{found['of_bound']:.2f} ({found['of_bound_most']:.2f}), "
        f"own {found['own_of_bound']:.2f} ({found['own_of_bound_most']:.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--with", dest="libraries", default="transformers,lightning")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--here", choices=("torch", "libraries", "objects"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        torch.set_num_threads(1)
        for name in arguments.libraries.split(",") if arguments.here == "libraries" else ():
            import_module(name)
        further = [[number] for number in range(1_000_000)] if arguments.here == "objects" else []
        print(json.dumps([measure_here(arguments.repeats, held) for held in (False, True)]))
        assert len(further) in (0, 1_000_000)
        return
    results = {}
    print("| process | objects | submodules | gc.collect() | release | of its bound | all held | of its bound |")
    print("| --- " * 8 + "|")
    for place in ("torch", "libraries", "objects"):
        command = [sys.executable, __file__, "--here", place, "--repeats", str(arguments.repeats)]
        command += ["--with", arguments.libraries]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        free, held = json.loads(run.stdout.splitlines()[-1])
        results[place] = {"freed": free, "held": held}
        print(
            f"| {place} | {free['objects'] / 1e6:.2f} million | {free['submodules']:.0f} | {free['collection']:.3f} s "
            f"| {free['release']:.3f} s | {_shares(free)} | {held['release']:.3f} s | {_shares(held)} |",
            flush=True,
        )
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
