"""What recording a long run costs: time in the hooks, own memory, disk, and how soon the recording is open again.

    python benchmarks/watching.py [--steps 1000000] [--json FILE]

Rows are written as the recorder writes them, with sixteen counters of a device whose values move as those of batches
of varying length do, and six more at the ends of each step's phases, without torch and without waiting between steps;
seconds of writing are processor time, those of opening by the clock, of the hooks both. Bounds: 50 MiB of own memory,
200 bytes per step, 1 s to open; time in the hooks 0.3 % of a 50 ms step and 2 % of a 5 ms step (`hooks`, with torch:
steps that are told to be so long, on the CPU, without censuses). Beside them stand ratios of whole steps by the clock,
watched and plain in turns, and plain over plain: what a difference below that band says is noise.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STEPS_BETWEEN_LOOKS = 100
"""The recorder's thread writes each half second; so many steps of 5 ms come in that time."""
BOUNDS = {"own_mebibytes": 50.0, "bytes_per_step": 200.0, "open_seconds": 1.0}
STEPS_IN_TURN = 50
HOOK_BOUNDS = {0.05: 0.3, 0.005: 2.0}


def counters_of(step: int, chance: random.Random, peak: int) -> dict[str, int]:
    """Of a model of 4 GiB whose activations follow the batch's length; 1 KiB leaks per step."""
    held = (4 << 30) + 1024 * step
    length = chance.randrange(64, 513)
    top = held + length * (6 << 20)
    reserved = max(peak, top) + (512 << 20)
    return {
        "allocated_bytes": held,
        "active_bytes": held + (2 << 20) * chance.randrange(8),
        "reserved_bytes": reserved,
        "allocated_peak_bytes": max(peak, top),
        "active_peak_bytes": max(peak, top),
        "reserved_peak_bytes": reserved,
        "active_small_bytes": (20 << 20) + 512 * chance.randrange(1000),
        "reserved_small_bytes": 64 << 20,
        "inactive_split_bytes": 512 * chance.randrange(1 << 16),
        "requested_bytes": held - 512 * chance.randrange(64),
        "num_alloc_retries": step // 100_000,
        "num_ooms": 0,
        "pinned_bytes": 256 << 20,
        "pinned_active_bytes": 128 << 20,
        "full_collections": step // 700,
        "rss_bytes": (3 << 30) + 4096 * chance.randrange(4096) + step * 16,
        **counters_within(held, top, chance),
    }


def counters_within(held: int, top: int, chance: random.Random) -> dict[str, int]:
    """At the ends of phases, in each step: the most that a recording can have of them."""
    resident = (3 << 30) + 4096 * chance.randrange(4096)
    return {
        "between_steps_allocated_bytes": held,
        "forward_allocated_bytes": top,
        "backward_allocated_bytes": held + (2 << 20) * chance.randrange(8),
        "between_steps_rss_bytes": resident,
        "forward_rss_bytes": resident + 4096 * chance.randrange(64),
        "backward_rss_bytes": resident + 4096 * chance.randrange(64),
    }


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def write(folder: Path, steps: int) -> dict[str, float]:
    from tenure.capture.writing.journal import Journal

    chance = random.Random(0)
    journal = Journal(lambda: folder)
    rows = [counters_of(step, chance, 0) for step in range(1, 1001)]
    journal.write_step(1, time=0.05, seconds=0.05, counters=rows[0])
    before, most, peak, inside, flushing = resident(), 0, 0, 0.0, 0.0
    for step in range(2, steps + 1):
        counters = counters_of(step, chance, peak)
        peak = counters["allocated_peak_bytes"]
        seconds = 0.05 + chance.random() * 0.01
        started = time.process_time()
        journal.write_step(step, time=0.055 * step, seconds=seconds, counters=counters)
        inside += time.process_time() - started
        started = time.process_time()
        if step % STEPS_BETWEEN_LOOKS == 0:
            journal.flush_if_due(seconds=0)
            flushing += time.process_time() - started
        if step % 10_000 == 0:
            most = max(most, resident())
    journal.close()
    return {
        "own_mebibytes": (max(most, resident()) - before) / (1 << 20),
        "bytes_per_step": sum(file.stat().st_size for file in folder.iterdir()) / steps,
        "files": float(len(list(folder.iterdir()))),
        "add_microseconds_per_step": 1e6 * inside / steps,
        "thread_microseconds_per_step": 1e6 * flushing / steps,
    }


def read(folder: Path) -> dict[str, float]:
    import numpy  # noqa: F401 - its own import is no part of opening

    from tenure.store.recording_file import open_recording

    started = time.perf_counter()
    opened = open_recording(folder)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    values = opened.steps.counter("allocated_bytes")[1]  # type: ignore[attr-defined]
    return {
        "open_seconds": seconds,
        "steps_read": float(len(opened.steps)),
        "one_counter_seconds": time.perf_counter() - started,
        "growth": float(values[-1] - values[0]),
    }


def hooks(step_seconds: float, steps: int, folder: Path) -> dict[str, float]:
    """Steps marked in code, each told to have begun so long ago: counters, row, and all that is decided per step."""
    from tenure.capture.monitor import Monitor
    from tenure.capture.options import MonitorOptions

    folder.mkdir()
    monitor = Monitor(lambda: folder, options=MonitorOptions(census_at=(), profile_step=0))
    monitor.begin_step()
    monitor.end_step()
    before, started = monitor.own_seconds, time.thread_time()
    for _ in range(steps):
        monitor._recorder._clock.leave_out(-step_seconds)
        monitor.end_step()
    processor = (time.thread_time() - started) / steps
    own = (monitor.own_seconds - before) / steps
    monitor.close()
    return {
        "microseconds": 1e6 * own,
        "percent": 100 * own / step_seconds,
        "processor_microseconds": 1e6 * processor,
        "processor_percent": 100 * processor / step_seconds,
        "bound": HOOK_BOUNDS[step_seconds],
    }


def found_steps(step_seconds: float, steps: int, folder: Path) -> dict[str, float]:
    """Steps that hooks find, of five modules and an optimizer, each told to have begun so long ago; phases are read in
    as many of them as in a long run. Processor time beyond that of plain steps, which come in turns with them, for a
    machine with other work slows both; plain steps differ among themselves too, every other block from the rest."""
    import torch

    from tenure.capture.monitor import Monitor
    from tenure.capture.options import MonitorOptions
    from tenure.store.recording_file import open_recording

    torch.set_num_threads(1)
    model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    rows = torch.ones(4, 8)

    def run(count: int, monitor: Monitor | None = None) -> float:
        started = time.thread_time()
        for _ in range(count):
            if monitor is not None:
                monitor._recorder._clock.leave_out(-step_seconds)
                monitor._recorder._clock.start -= step_seconds
            optimizer.zero_grad()
            model(rows).mean().backward()
            optimizer.step()
        return (time.thread_time() - started) / count

    run(steps)
    folder.mkdir()
    monitor = Monitor(lambda: folder, options=MonitorOptions(census_at=(), profile_step=0))
    run(steps, monitor)
    blocks = steps // STEPS_IN_TURN
    guarded = monitor.own_seconds
    plain, watched = [], []
    for _ in range(blocks):
        with without_hooks(monitor):
            plain.append(run(STEPS_IN_TURN))
        watched.append(run(STEPS_IN_TURN, monitor))
    guarded = (monitor.own_seconds - guarded) / (blocks * STEPS_IN_TURN)
    monitor.close()
    late = list(open_recording(folder).steps)[-steps:]
    extra = sum(watched) / blocks - sum(plain) / blocks
    return {
        "guarded_microseconds": 1e6 * guarded,
        "processor_microseconds": 1e6 * extra,
        "processor_percent": 100 * extra / step_seconds,
        "plain_microseconds": 1e6 * sum(plain) / blocks,
        "plain_differ_microseconds": 1e6 * abs(sum(plain[::2]) - sum(plain[1::2])) / (blocks // 2),
        "share_read_within": sum("backward_rss_bytes" in row.counters for row in late) / steps,
        "bound": HOOK_BOUNDS[step_seconds],
    }


@contextmanager
def without_hooks(monitor: Any) -> Iterator[None]:
    """Torch as it is without the recorder, for a few steps."""
    from torch.optim import optimizer

    monitor._modules.suspend()
    found = (optimizer._global_optimizer_pre_hooks, optimizer._global_optimizer_post_hooks)
    kept = [dict(hooks) for hooks in found]
    for hooks in found:
        hooks.clear()
    yield
    for hooks, former in zip(found, kept, strict=True):
        hooks.update(former)
    monitor._modules.resume()


def wall_ratios(step_seconds: float, folder: Path, *, rounds: int) -> dict[str, list[float]]:
    """Medians of watched steps over those of plain ones just before, and plain over plain: the A/A band."""
    import statistics

    import torch

    from tenure.capture.monitor import Monitor
    from tenure.capture.options import MonitorOptions

    torch.set_num_threads(1)
    model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)

    def step(rows: int) -> float:
        started = time.perf_counter()
        optimizer.zero_grad()
        model(torch.ones(rows, 256)).mean().backward()
        optimizer.step()
        return time.perf_counter() - started

    rows = 64
    while min(step(rows) for _ in range(5)) < step_seconds:
        rows = rows * 5 // 4
    found: dict[str, list[float]] = {"A/A": [], "watched": []}
    for number in range(rounds):
        plain = [statistics.median(step(rows) for _ in range(30)) for _ in range(2)]
        inner = folder / str(number)
        inner.mkdir(parents=True)
        monitor = Monitor(lambda inner=inner: inner, options=MonitorOptions(census_at=(), profile_step=0))  # type: ignore[misc]
        for _ in range(10):
            step(rows)
        watched = statistics.median(step(rows) for _ in range(30))
        monitor.close()
        found["A/A"].append(plain[1] / plain[0])
        found["watched"].append(watched / plain[1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        folder.mkdir()
        found["rows"] = write(folder, options.steps) | read(folder)
        for name, value in found["rows"].items():
            bound = f"   bound {BOUNDS[name]:g}" if name in BOUNDS else ""
            print(f"{name:28} {value:14.2f}{bound}")
        found["hooks"] = {}
        for seconds in HOOK_BOUNDS:
            row = found["hooks"][str(seconds)] = hooks(seconds, 20_000, Path(temporary) / f"hooks-{seconds}")
            print(
                f"hooks of a {1e3 * seconds:2.0f} ms step, clock  "
                f"{row['microseconds']:10.1f} us = {row['percent']:.3f} %, processor "
                f"{row['processor_microseconds']:.1f} us = {row['processor_percent']:.3f} %   "
                f"bound {row['bound']:g} %"
            )
            within = row["found"] = found_steps(seconds, 3_000, Path(temporary) / f"found-{seconds}")
            print(
                f"  steps that hooks find, processor {within['processor_microseconds']:10.1f} us = "
                f"{within['processor_percent']:.3f} %, read within {100 * within['share_read_within']:.0f} % of them; "
                f"plain steps take {within['plain_microseconds']:.0f} us and differ by "
                f"{within['plain_differ_microseconds']:.1f}   bound {within['bound']:g} %"
            )
            ratios = wall_ratios(seconds, Path(temporary) / f"ratios-{seconds}", rounds=8)
            row["ratios"] = ratios
            for name, values in ratios.items():
                middle = sorted(values)[len(values) // 2]
                print(
                    f"  whole steps by the clock, {name:8} {min(values):.3f} to {max(values):.3f}, median {middle:.3f}"
                )
    if options.json:
        options.json.write_text(json.dumps({"format": 1, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
