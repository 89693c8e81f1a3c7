"""Pause and memory of the heap walk, as ratios to one full `gc.collect()` of the same process.

    python benchmarks/walker.py [--objects 200000 1000000 3000000] [--json FILE]

The heap is made of dicts, lists, tuples and instances with random references among them, one in a hundred to a
target; either nearly all of them lead to targets (many), or few do. The pause is `gc.get_objects()` plus the walk;
memory is what the process grows by at its highest while that runs, without the result, and `kept` what remains
when the result has been dropped.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tenure.capture.heap import heapwalk
from tenure.capture.heap.heapwalk import Category

REPEATS = 5


class Target:
    pass


class Instance:
    def __init__(self, number: int, other: object) -> None:
        self.number = number
        self.name = "instance"
        self.other = other


class Slotted:
    __slots__ = ("first", "second")

    def __init__(self, first: object, second: object) -> None:
        self.first = first
        self.second = second


def make_heap(count: int, few: bool) -> list[object]:
    """About `count` tracked objects; references go anywhere among those made before.

    With `few`, targets hang below one object in fifty only, as in a program that holds much besides tensors.
    """
    choice = random.Random(7)
    heap: list[object] = [[]]
    holders: list[object] = [[Target()]]
    for number in range(count):
        among = holders if not few or number % 50 == 0 else heap
        other = among[int(choice.random() * len(among))]
        if number % 100 == 0:
            other = Target()
        among.append(make_object(number, other, among[-1]))
    return [heap, holders]


def make_object(number: int, other: object, last: object) -> object:
    kind = number % 5
    if kind == 0:
        return {"number": number, "other": other, "text": str(number)}
    if kind == 1:
        return [other, number, last, None]
    if kind == 2:
        return other, [number]
    return Instance(number, other) if kind == 3 else Slotted(other, last)


def classify(kind: type) -> int:
    if kind is Target:
        return Category.TARGET
    return Category.ROOT if issubclass(kind, type) else Category.NORMAL


def take(roots: list[int]) -> heapwalk.Walk:
    return heapwalk.walk(gc.get_objects(), classify=classify, roots=roots)


def resident_bytes(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def forget_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def seconds(action: object) -> float:
    start = time.perf_counter()
    action()  # type: ignore[operator]
    return time.perf_counter() - start


def measure(count: int, few: bool) -> dict[str, object]:
    gc.disable()
    heap = make_heap(count, few)
    roots = [id(module.__dict__) for module in sys.modules.values() if hasattr(module, "__dict__")]
    gc.collect()
    collects, walks, ratios = [], [], []
    for _ in range(REPEATS):
        collects.append(seconds(gc.collect))
        walks.append(seconds(lambda: take(roots)))
        ratios.append(walks[-1] / collects[-1])
    tracked = len(gc.get_objects())
    before = resident_bytes("VmRSS")
    measurable = forget_peak()
    found = take(roots)
    peak = resident_bytes("VmHWM") if measurable else None
    result = sys.getsizeof(found.nodes) + sum(len(c) * c.itemsize for c in found[1:4])
    nodes, edges = len(found.nodes), len(found.source)
    del found
    kept = resident_bytes("VmRSS") - before
    assert heap
    return {
        "targets": "few" if few else "many",
        "objects": tracked,
        "nodes": nodes,
        "edges": edges,
        "collect_seconds": statistics.median(collects),
        "walk_seconds": statistics.median(walks),
        "ratio": statistics.median(ratios),
        "extra_bytes_per_object": None if peak is None else (peak - before - result) / tracked,
        "result_bytes_per_object": result / tracked,
        "kept_bytes_per_object": kept / tracked,
    }


def print_row(row: dict[str, Any]) -> None:
    extra = row["extra_bytes_per_object"]
    print(
        f"{row['targets']:7} {row['objects']:9,} {row['nodes']:9,} {row['collect_seconds']:10.4f} "
        f"{row['walk_seconds']:8.4f} {row['ratio']:6.2f} {'-' if extra is None else format(extra, '12.1f')} "
        f"{row['result_bytes_per_object']:13.1f} {row['kept_bytes_per_object']:11.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, nargs="+", default=[200_000, 1_000_000, 3_000_000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--few", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.few)))
        return
    rows = []
    print(f"Python {platform.python_version()}, native: {heapwalk.NATIVE}; bound 2.00, aim 1.20; memory bound 64")
    print("targets   objects     nodes  collect s   walk s  ratio  extra B/obj  result B/obj  kept B/obj")
    for count in options.objects:
        for few in (["--few"], []):
            command = [sys.executable, __file__, "--one", str(count), *few]
            rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            print_row(rows[-1])
    if options.json:
        options.json.write_text(json.dumps({"format": 1, "native": heapwalk.NATIVE, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
