"""How long hundreds of ranks take to be opened and compared, and in how much memory.

    python benchmarks/ranks.py [--ranks 256] [--steps 10000] [--json FILE]

The recordings are made in a temporary folder: four as the recorder writes them, with sixteen counters,
and copies of these under other ranks; rank 7 leaks 1 MiB more per step. What is measured runs in
processes of its own: seconds by the clock from list of folders to comparison, imports left out, and what resident
memory rose by at most; then the same of what the dashboard does at its first look and at one without news.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from watching import counters_of

BODIES, LEAKING = 4, 7


def write(folder: Path, number: int, *, steps: int, leak: int = 0) -> None:
    from tenure.capture.writing.journal import Journal

    chance = random.Random(number)
    journal = Journal(lambda: folder, time_origin=1e9)
    peak = 0
    for step in range(1, steps + 1):
        counters = counters_of(step, chance, peak)
        peak = counters["allocated_peak_bytes"]
        counters["allocated_bytes"] += leak * step
        journal.write_step(step, time=0.05 * step, seconds=0.05, counters=counters)
        if step % 500 == 0:
            journal.flush_if_due(seconds=0)
    journal.close()


def name(folder: Path, rank: int, ranks: int) -> None:
    process = json.loads((folder / "process.json").read_text())
    process |= {"rank": rank, "world_size": ranks, "node": f"node-{rank // 8}"}
    (folder / "process.json").write_text(json.dumps(process))


def make(run: Path, *, ranks: int, steps: int) -> None:
    bodies = [run.parent / f"body-{number}" for number in range(BODIES)]
    for number, body in enumerate([*bodies, run / f"rank-{LEAKING:05d}"]):
        body.mkdir(parents=True)
        write(body, number, steps=steps, leak=(1 << 20) if number == BODIES else 0)
    for rank in range(ranks):
        folder = run / f"rank-{rank:05d}"
        if rank != LEAKING:
            shutil.copytree(bodies[rank % BODIES], folder)
        name(folder, rank, ranks)


def compare(run: str) -> None:
    """In a process of its own; prints one JSON object."""
    import numpy  # noqa: F401

    from tenure.analysis.watching.ranks import compare_ranks
    from tenure.store.recording_file import list_recordings, open_recording

    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    compared = compare_ranks(map(open_recording, list_recordings(run)))
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert compared is not None
    found = {
        "ranks": len(compared.runs),
        "seconds": seconds,
        "processor_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "rise_mebibytes": (after.ru_maxrss - before.ru_maxrss) / 1024,
        "told": [[each.what, each.kind, list(each.ranks), each.per_step] for each in compared.differences],
    }
    print(json.dumps(found))


def follow(run: str) -> None:
    """What the dashboard does: the first look and one at which nothing is new. Prints one JSON object."""
    from tenure.live.watched_run import WatchedRun

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    watched, seconds = WatchedRun(run), []
    for _ in range(2):
        started = time.perf_counter()
        watched.look()
        seconds.append(time.perf_counter() - started)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"first_look_seconds": seconds[0], "next_look_seconds": seconds[1]}
    print(json.dumps(found | {"looks_rise_mebibytes": (after - before) / 1024}))


def run_apart(work: str, run: Path) -> dict[str, object]:
    command = [sys.executable, __file__, "--in-process", work, "--run", str(run)]
    found: dict[str, object] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--in-process", choices=["compare", "follow"], help=argparse.SUPPRESS)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_process:
        {"compare": compare, "follow": follow}[options.in_process](options.run)
        return
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(temporary) / "run"
        make(run, ranks=options.ranks, steps=options.steps)
        size = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
        found = run_apart("compare", run) | run_apart("follow", run)
    found |= {"steps": options.steps, "mebibytes_on_disk": size / (1 << 20)}
    for key, value in found.items():
        print(f"{key:20} {value:.2f}" if isinstance(value, float) else f"{key:20} {value}")
    if options.json:
        options.json.write_text(json.dumps({"format": 1, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
