"""Pause of a census, and census with retention paths, against what else walks Python's heap.

    python benchmarks/census_speed.py [--objects 200000 1000000 3000000] [--repeats 3] [--json FILE]

Each size has a process of its own with torch loaded, a heap as benchmarks/walker.py makes it, and ten large tensors
held somewhere in it. Every row is a ratio to one full `gc.collect()` of that process; `A/A` is the same collection
timed a second time. Bounds: the census 2.0; census and paths at least 2 times faster than the alternatives.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
ABSENT = "not installed"


def seconds(action: Callable[[], object], repeats: int) -> list[float]:
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
        del result
    return times


def referents_loop(targets: list[Any]) -> int:
    """Who refers to each target, over the whole heap once: what people write by hand."""
    wanted = {id(target) for target in targets}
    return sum(id(referent) in wanted for item in gc.get_objects() for referent in gc.get_referents(item))


def objgraph_chains(targets: list[Any]) -> object:
    import objgraph

    return [objgraph.find_backref_chain(target, objgraph.is_proper_module, max_depth=30) for target in targets]


def guppy_paths(targets: list[Any]) -> object:
    import guppy

    heapy = guppy.hpy()
    heapy.heap()
    return [str(heapy.iso(target).shpaths) for target in targets]


def census_with_paths() -> object:
    from tenure.analysis.heap.graph import build_graph
    from tenure.analysis.heap.paths import path_to, shortest_paths
    from tenure.capture.heap.census import take_census

    census = take_census(step=1, moment="request")
    graph = build_graph(census)
    paths = shortest_paths(graph)
    largest = census.storages.bytes.argsort()[-10:]
    found = [path_to(graph, paths, int(census.storages.node[row])) for row in largest]
    assert all(len(path) > 1 for path in found), found
    return found


def measure(count: int, repeats: int) -> dict[str, Any]:
    import torch
    from walker import make_heap

    from tenure.capture.heap.census import take_census

    heap = make_heap(count, few=True)
    targets = [torch.ones(1_000_000 + number) for number in range(10)]
    for number, target in enumerate(targets):
        heap[number * len(heap) // 10 : number * len(heap) // 10] = [{"kept": [target]}]
    globals()["HEAP"] = heap
    take_census(step=0, moment="request")
    rows: dict[str, Any] = {"gc.collect()": seconds(gc.collect, repeats), "A/A": seconds(gc.collect, repeats)}
    rows["census"] = seconds(lambda: take_census(step=1, moment="request"), repeats)
    rows["census and ten paths"] = seconds(census_with_paths, repeats)
    rows["get_referents loop"] = seconds(lambda: referents_loop(targets), 1)
    for name, package, action in (
        ("objgraph chains", "objgraph", objgraph_chains),
        ("guppy3 heap and shpaths", "guppy", guppy_paths),
    ):
        there = importlib.util.find_spec(package) is not None
        rows[name] = seconds(lambda: action(targets), 1) if there else ABSENT
    one = statistics.median(rows["gc.collect()"])
    return {
        "objects": len(gc.get_objects()),
        "rows": {
            name: times if times == ABSENT else {
                "seconds": statistics.median(times),
                "ratio": statistics.median(times) / one,
                "band": [min(times) / one, max(times) / one],
            }
            for name, times in rows.items()
        },
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, nargs="+", default=[200_000, 1_000_000, 3_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.repeats)))
        return
    sizes = []
    for count in options.objects:
        command = [sys.executable, __file__, "--one", str(count), "--repeats", str(options.repeats)]
        size = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        sizes.append(size)
        print(f"{size['objects']:,} objects, Python {platform.python_version()}")
        for name, row in size["rows"].items():
            if row == ABSENT:
                print(f"  {name:26} {ABSENT}")
                continue
            low, high = row["band"]
            print(f"  {name:26} {row['seconds']:9.4f} s  {row['ratio']:7.2f} x  ({low:.2f} to {high:.2f})")
    if options.json:
        options.json.write_text(json.dumps({"format": 1, "sizes": sizes}, indent=1) + "\n")


if __name__ == "__main__":
    main()
