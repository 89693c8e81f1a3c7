"""What reading, replaying and advising on a memory snapshot costs: time per event, and memory of a process of its own.

    python benchmarks/allocator.py [--events 100000 1000000] [--depth 40] [--repeats 3] [--json FILE]

The trace is made here by the simulated allocator: steps of a training loop whose layers keep activations of two lengths
of batch, with stacks of `--depth` frames, a list of its own for each event as torch writes them. Each line is measured
in new processes, medians: seconds by the clock and of the processor, the latter per
event; memory is the most that such a process ever had, Python and NumPy included. `in Python` is
the same without the native parts, or of them the scan, the unpickling and the making of columns alone.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tenure.allocator.blocks import Block
from tenure.allocator.settings import MIB, AllocatorSettings
from tenure.allocator.simulated_device import SimulatedDevice
from tenure.allocator.simulator import Allocator

Work = Callable[[Path], Any]
PEERS = {
    "read": "read, in Python",
    "replay": "replay, in Python",
    "advise, 24 settings": "advise, 24 settings, in Python",
}


class Listening(SimulatedDevice):
    """Notes the segments that it gives."""

    def __init__(self, note: Callable[..., None]) -> None:
        super().__init__()
        self.note = note

    def give(self, size: int, stream: int) -> int | None:
        address = super().give(size, stream)
        self.note("segment_alloc", address, size)
        return address


def frames(depth: int, tips: int) -> list[list[dict[str, Any]]]:
    """Stacks that share their outer half, innermost first."""
    outer = [{"name": f"outer_{n}", "filename": "/home/me/train.py", "line": n} for n in range(depth // 2)]
    inner = [
        [{"name": f"layer_{tip}_{n}", "filename": f"/home/me/model_{tip % 7}.py", "line": n} for n in range(depth // 2)]
        for tip in range(tips)
    ]
    return [each + outer for each in inner]


def write(path: Path, num_events: int, depth: int) -> None:
    """A snapshot of about so many events, as torch writes it."""
    events: list[dict[str, Any]] = []
    stacks = frames(depth, 200)
    chance = random.Random(7)
    stack = [stacks[0]]

    def note(action: str, address: int | None, size: int) -> None:
        told = {"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1_700_000_000_000_000}
        told["time_us"] += len(events)
        events.append({**told, "compile_context": "N/A", "user_metadata": "", "frames": list(stack[0])})

    allocator = Allocator(AllocatorSettings(), Listening(note))

    def ask(size: int, tip: int) -> Block:
        stack[0] = stacks[tip]
        block = allocator.allocate(size)
        assert block is not None
        note("alloc", block.address, size)
        return block

    def free(block: Block, tip: int) -> None:
        stack[0] = stacks[tip]
        note("free_requested", block.address, block.requested)
        note("free_completed", block.address, block.requested)
        allocator.free(block.address)

    for layer in range(100):
        ask(chance.randrange(1, 64) * 65_536, layer)
    while len(events) < num_events:
        length = chance.choice((1, 2, 3))
        saved = []
        for layer in range(100):
            scratch = ask((layer % 5 + 1) * 300_000 * length, layer)
            saved.append(ask((layer % 9 + 1) * 400_000 * length, layer))
            free(scratch, layer)
        for layer in range(100):
            scratch = ask((layer % 3 + 1) * 500_000 * length, 100 + layer)
            free(saved.pop(), 100 + layer)
            free(scratch, 100 + layer)
    path.write_bytes(pickle.dumps(told_of(allocator, events)))


def told_of(allocator: Allocator, events: list[dict[str, Any]]) -> dict[str, Any]:
    free = [block for pool in allocator.pools() for block in pool.by_address.values()]
    blocks = sorted((*free, *allocator.in_use.values()), key=lambda block: block.address)
    groups: list[list[Block]] = []
    for block in blocks:
        if block.before is None:
            groups.append([])
        groups[-1].append(block)
    return {
        "segments": [
            {
                "device": 0,
                "address": group[0].address,
                "total_size": sum(block.size for block in group),
                "stream": 0,
                "segment_type": "small" if group[0].pool.is_small else "large",
                "segment_pool_id": (0, 0),
                "is_expandable": False,
                "blocks": [
                    {
                        "address": block.address,
                        "size": block.size,
                        "requested_size": block.requested,
                        "state": "active_allocated" if block.in_use else "inactive",
                        "frames": [],
                    }
                    for block in group
                ],
            }
            for group in groups
        ],
        "device_traces": [events],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False},
        "external_annotations": [],
    }


def works() -> dict[str, tuple[Work, Work]]:
    """By name: what is made ready, and what is timed with it."""
    from tenure.allocator.advisor import advise
    from tenure.allocator.replay import replay_snapshot
    from tenure.store.pickle_scan import check_pickle
    from tenure.store.snapshot_rows import snapshot_of_rows
    from tenure.store.torch_snapshot import read_snapshot, snapshot_in_python

    def in_python(path: Path) -> Any:
        return snapshot_in_python(path.read_bytes(), "file")

    def replayed(snapshot: Any) -> None:
        assert replay_snapshot(snapshot, 0).is_equal

    return {
        "read": (Path, read_snapshot),
        "read, in Python": (Path, in_python),
        "scan, in Python": (Path.read_bytes, lambda data: check_pickle(data, "file")),
        "unpickling, in Python": (Path.read_bytes, pickle.loads),
        "columns, in Python": (lambda path: pickle.loads(path.read_bytes()), snapshot_of_rows),
        "replay": (read_snapshot, replayed),
        "replay, in Python": (read_snapshot, replayed),
        "advise, 24 settings": (read_snapshot, lambda snapshot: advise(snapshot, 0)),
        "advise, 24 settings, in Python": (read_snapshot, lambda snapshot: advise(snapshot, 0)),
    }


def without_native() -> None:
    """The parts in Python from here on, though others are built."""
    for name in ("tenure.store.snapshot_columns", "tenure.allocator.native"):
        try:
            module = __import__(name, fromlist=["_native"])
        except ImportError:
            continue
        module._native = None


def child(name: str, path: Path) -> None:
    ready, work = works()[name]
    given = ready(path)
    if name.endswith("in Python"):
        without_native()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, started_cpu = time.perf_counter(), time.process_time()
    kept = work(given)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del kept
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
                "most_mebibytes": most / 1024,
                "ready_mebibytes": before / 1024,
            }
        )
    )


def measured(name: str, path: Path, repeats: int) -> dict[str, float]:
    told = [
        json.loads(subprocess.check_output([sys.executable, __file__, "--child", name, str(path)], text=True))
        for _ in range(repeats)
    ]
    return {key: statistics.median(each[key] for each in told) for key in told[0]}


def measure(num_events: int, depth: int, repeats: int, folder: Path, only: list[str]) -> Iterator[dict[str, Any]]:
    path = folder / f"{num_events}.pickle"
    subprocess.check_call([sys.executable, __file__, "--write", str(path), str(num_events), str(depth)])
    size = path.stat().st_size
    print(f"\n{num_events:,} events, {size / MIB:.1f} MiB, {size / num_events:.0f} bytes an event")
    print(f"{'':32}{'seconds':>10}{'processor':>10}{'us/event':>10}{'most MiB':>10}{'of file':>9}")
    for name in only or works():
        if name.startswith("advise") and num_events > 200_000:
            continue
        found = measured(name, path, repeats)
        each = found["cpu_seconds"] / num_events * 1e6
        ratio = found["most_mebibytes"] / (size / MIB)
        times = f"{found['seconds']:10.3f}{found['cpu_seconds']:10.3f}{each:10.3f}"
        print(f"{name:32}{times}{found['most_mebibytes']:10.1f}{ratio:9.2f}", flush=True)
        yield {"events": num_events, "file_bytes": size, "what": name, **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--depth", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:  # in a process of its own: what this one had counts as its children's most
        write(Path(options.write[0]), int(options.write[1]), int(options.write[2]))
        return
    if options.child:
        child(options.child[0], Path(options.child[1]))
        return
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        for num_events in options.events:
            found += measure(num_events, options.depth, options.repeats, Path(temporary), options.only)
            seconds = {each["what"]: each["cpu_seconds"] for each in found if each["events"] == num_events}
            for fast, slow in PEERS.items():
                if fast in seconds and slow in seconds:
                    print(f"{fast}: {seconds[slow] / seconds[fast]:.1f} times as fast as in Python")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
