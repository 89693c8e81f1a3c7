"""Memory that a census needs while it runs, and keeps afterwards, per tracked object of the process.

    python benchmarks/census_memory.py [--objects 200000 1000000 3000000] [--json FILE]

Each size has a process of its own; the peak is the kernel's (VmHWM, reset just before). `noise` is the same with a
`gc.collect()` in the census's place. Bound: 64 bytes per object while it runs, and all of it returned.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))


def extra(action: Any) -> dict[str, float]:
    """Bytes at the highest and bytes kept, above the resident size before."""
    from walker import forget_peak, resident_bytes

    gc.collect()
    before = resident_bytes("VmRSS")
    measurable = forget_peak()
    result = action()
    peak = resident_bytes("VmHWM") - before if measurable else float("nan")
    del result
    return {"peak": peak, "kept": resident_bytes("VmRSS") - before}


def measure(count: int) -> dict[str, Any]:
    import torch
    from walker import make_heap

    from tenure.capture.heap.census import take_census

    heap = make_heap(count, few=True)
    heap.extend(torch.ones(1000) for _ in range(100))
    globals()["HEAP"] = heap
    take_census(step=0, moment="request")
    noise = extra(gc.collect)
    found = extra(lambda: take_census(step=1, moment="request"))
    again = extra(lambda: take_census(step=2, moment="request"))
    objects = len(gc.get_objects())
    return {
        "objects": objects,
        "noise_bytes_per_object": noise["peak"] / objects,
        "peak_bytes_per_object": found["peak"] / objects,
        "kept_bytes_per_object": found["kept"] / objects,
        "kept_by_the_next_bytes_per_object": again["kept"] / objects,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, nargs="+", default=[200_000, 1_000_000, 3_000_000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    rows = []
    print("  objects  peak B/obj  kept B/obj  kept by the next  noise B/obj")
    for count in options.objects:
        command = [sys.executable, __file__, "--one", str(count)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rows.append(row)
        print(
            f"{row['objects']:9,} {row['peak_bytes_per_object']:11.1f} {row['kept_bytes_per_object']:11.1f} "
            f"{row['kept_by_the_next_bytes_per_object']:17.1f} {row['noise_bytes_per_object']:12.1f}"
        )
    if options.json:
        options.json.write_text(json.dumps({"format": 1, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
