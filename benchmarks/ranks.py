"""How long hundreds of ranks take to be opened and compared, and until the dashboard shows them, in how much memory.

    python benchmarks/ranks.py [--ranks 16 64 256] [--steps 10000] [--repeat 3] [--json FILE]

The recordings are made in a temporary folder: four as the recorder writes them, with sixteen counters,
and copies of these under other ranks; rank 7 leaks 1 MiB more per step. What is measured runs in
processes of its own, medians of `--repeat`: seconds by the clock from list of folders to comparison, imports left out,
and what resident memory rose by at most; then of the dashboard, its imports included, until its first screen stands
(one rank's figures, and each rank in the table), until the ranks are compared, and until growth was looked for in each,
with the most memory that its process had until then.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
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


def screen(run: str) -> None:
    """The dashboard itself, without a terminal, from its imports on. Prints one JSON object."""
    import asyncio

    started = time.perf_counter()

    from tenure.live.dashboard import Dashboard
    from tenure.live.watched_run import WatchedRun
    from tenure.model.finding import Diagnosis

    watched = WatchedRun(run)
    found: dict[str, float] = {}

    async def find(folder: str) -> Diagnosis:
        raise NotImplementedError

    def now(name: str) -> None:
        if f"{name}_seconds" not in found:
            found[f"{name}_seconds"] = time.perf_counter() - started
            found[f"{name}_own_mebibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    async def wait() -> None:
        app = Dashboard(watched.look, find, look_closer=watched.look_closer)
        async with app.run_test(size=(120, 40)) as pilot:
            while "all_read_seconds" not in found:
                await pilot.pause(0.2)
                seen = app._seen
                if seen.processes and app.shown is not None:
                    now("first_screen")
                if seen.ranks is not None:
                    now("compared")
                if seen.processes and not seen.num_unread:
                    now("all_read")
            before = time.perf_counter()
            watched.look()
            found["next_look_seconds"] = time.perf_counter() - before

    asyncio.run(wait())
    print(json.dumps(found))


def run_apart(work: str, run: Path) -> dict[str, object]:
    command = [sys.executable, __file__, "--in-process", work, "--run", str(run)]
    found: dict[str, object] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--in-process", choices=["compare", "screen"], help=argparse.SUPPRESS)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_process:
        {"compare": compare, "screen": screen}[options.in_process](options.run)
        return
    table = [measure(ranks, options.steps, options.repeat) for ranks in options.ranks]
    for key in table[0]:
        values = (found[key] for found in table)
        print(f"{key:28}", *(f"{value:10.2f}" if isinstance(value, float) else f"{value!s:>10}" for value in values))
    if options.json:
        options.json.write_text(json.dumps({"format": 2, "runs": table}, indent=1) + "\n")


def measure(ranks: int, steps: int, repeat: int) -> dict[str, object]:
    """Medians of so many processes each."""
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(temporary) / "run"
        make(run, ranks=ranks, steps=steps)
        size = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
        found: dict[str, object] = {"ranks": ranks, "steps": steps, "mebibytes_on_disk": size / (1 << 20)}
        for work in ("compare", "screen"):
            rows = [run_apart(work, run) for _ in range(repeat)]
            found |= {
                key: statistics.median(float(str(row[key])) for row in rows) if isinstance(value, float) else value
                for key, value in rows[0].items()
            }
    return found


if __name__ == "__main__":
    main()
