"""Programs that have torch record its CUDA allocator under settings of every kind; needs a CUDA device.

`python tests/allocator/programs_on_cuda.py FOLDER [NAME ...]` runs each program in a process of its own, several at
once, and writes of each what `torch.cuda.memory._snapshot()` gives, NAME.pickle.gz, and what torch's own counters said
at several moments, NAME.json. `--list` says which there are. `test_recorded_on_cuda.py` plays what was written.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KIB, MIB = 1 << 10, 1 << 20
MOST_AT_ONCE = 8
LONGEST_S = 150
NEEDS_CUDA = "needs a CUDA device"
SNAPSHOT, FIGURES = ".pickle.gz", ".json"
_RING = 200_000
_STATISTICS = (
    *(f"{kind}_bytes.all.{which}" for kind in ("active", "reserved", "requested") for which in ("current", "peak")),
    *(f"{kind}.all.current" for kind in ("active", "inactive_split", "segment")),
    *(f"segment.all.{which}" for which in ("allocated", "freed")),
    *(f"inactive_split_bytes.all.{which}" for which in ("current", "peak")),
    *("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free", "num_sync_all_streams"),
)


class Run:
    """A program's hands: takes memory, notes what torch counts, and keeps the record."""

    def __init__(self, limit: int | None, device: str = "cuda") -> None:
        import torch

        self.torch = torch
        self.device = device
        self.moments: list[dict[str, Any]] = []
        self.empties: list[int] = []
        self.fraction = 1.0
        self.total = 0
        if device != "cuda":
            return
        torch.cuda.init()
        self.total = torch.cuda.get_device_properties(0).total_memory
        if limit is not None:
            self.fraction = limit / self.total
            torch.cuda.set_per_process_memory_fraction(self.fraction)
        gc.disable()  # what cycles hold goes at no time of its own
        torch.cuda.memory._record_memory_history("all", context="alloc", stacks="python", max_entries=_RING)

    def take(self, size: int) -> Any:
        """A tensor of so many bytes."""
        return self.torch.empty(size, dtype=self.torch.uint8, device=self.device)

    def copy(self, into: Any, old: Any) -> None:
        """What a tensor that has grown begins with."""
        into[: old.numel()].copy_(old)

    def is_refused(self, error: Exception) -> bool:
        """Whether it says that memory ran out."""
        return isinstance(error, self.torch.cuda.OutOfMemoryError)

    def empty(self) -> None:
        """Give back all that is free."""
        self.empties.append(self._num_events())
        self.torch.cuda.empty_cache()

    def note(self, moment: str) -> None:
        """Note what torch counts now, and after how many events that is."""
        if self.device == "cuda":
            told = self.torch.cuda.memory_stats()
            counts = {name: told[name] for name in _STATISTICS if name in told}
            self.moments.append({"moment": moment, "events": self._num_events(), "counts": counts})

    def _num_events(self) -> int:
        return len(self.torch.cuda.memory._snapshot()["device_traces"][0]) if self.device == "cuda" else 0


@dataclass(frozen=True)
class Program:
    """One program and the settings that it runs under; of `limit` bytes it may reserve no more.

    `by_requests`: it calls no `empty_cache` and has one stream and pool, so that what goes back, when and why follows
    from its requests alone.
    """

    name: str
    what: str
    run: Callable[[Run], None]
    settings: str = ""
    limit: int | None = None
    by_requests: bool = False
    all_frames: bool = False


@dataclass
class Churn:
    """Takes and frees at random, in sizes that lie on torch's edges and beside them."""

    run: Run
    seed: int
    largest: int
    held: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def size(self) -> int:
        """Bytes of the next request."""
        edges = (1, 511, 512, 513, MIB - 1, MIB, MIB + 1, 2 * MIB, 10 * MIB - 1, 10 * MIB, 10 * MIB + 1, 20 * MIB)
        kind = self.chance.random()
        if kind < 0.2:
            return self.chance.choice(edges)
        low, high = ((1, 64 * KIB), (64 * KIB, 3 * MIB), (MIB, 12 * MIB), (10 * MIB, self.largest))[
            min(int((kind - 0.2) * 5), 3)
        ]
        return int(low * (high / low) ** self.chance.random())

    def step(self, most: int) -> None:
        """Take, or free something of `most` that may be held."""
        if self.held and self.chance.random() < len(self.held) / most:
            self.drop()
            return
        try:
            self.held.append(self.run.take(self.size()))
        except RuntimeError as error:
            if not self.run.is_refused(error):
                raise
            for _ in range(len(self.held) // 2):
                self.drop()

    def drop(self) -> None:
        """Free one of those that are held."""
        self.held.pop(self.chance.randrange(len(self.held)))


def churning(seed: int, steps: int, most: int, largest: int, empties: int = 0) -> Callable[[Run], None]:
    """A program that takes and frees, and every so many steps gives back what is free."""

    def run(hands: Run) -> None:
        churn = Churn(hands, seed, largest)
        for number in range(1, steps + 1):
            churn.step(most)
            if empties and number % empties == 0:
                hands.empty()
            if number % (steps // 6) == 0:
                hands.note(f"step {number}")
        hands.churn = churn  # type: ignore[attr-defined]  # what is held is there at the end

    return run


def growing(run: Run) -> None:
    """Sequences of many lengths, whose keys and values are copied into longer memory as they grow."""
    chance = random.Random(11)
    token = 96 * KIB
    sequences: list[tuple[int, Any]] = []
    kept = []
    for number in range(1, 25):
        length = chance.randrange(100, 500)
        sequences.append((length, run.take(length * token)))
        for place, (old_length, old) in enumerate(sequences):
            longer = old_length + chance.randrange(60, 200)
            grown = run.take(longer * token)
            run.copy(grown, old)
            sequences[place] = (longer, grown)
            del old, grown
            hidden = run.take(longer * 20 * KIB)
            del hidden
        if len(sequences) > 9:
            sequences.pop(chance.randrange(5))
            kept.append(run.take(chance.randrange(1_200, 5_000) * KIB))
        if number % 6 == 0:
            run.note(f"round {number}")


def training(run: Run) -> None:
    """A small language model that learns from batches of many lengths."""
    torch = run.torch
    torch.manual_seed(0)
    device = run.device
    layers = [torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True) for _ in range(2)]
    model = torch.nn.Sequential(torch.nn.Embedding(1000, 256), *layers, torch.nn.Linear(256, 1000)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses = []
    for step, length in enumerate((64, 448, 160, 512)):
        words = torch.randint(0, 1000, (16, length + 1), device=device)
        try:
            scores = model(words[:, :-1])
            loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        except RuntimeError as error:
            if not run.is_refused(error):
                raise
        words = scores = loss = None
        optimizer.zero_grad()
        run.note(f"step {step}")
    run.trained = model, optimizer, losses  # type: ignore[attr-defined]


def streams(run: Run) -> None:
    """Three streams that take, and use what another has taken; the last use has not ended when all is noted."""
    torch = run.torch
    own = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    churn = Churn(run, 3, 40 * MIB)
    for number in range(1, 301):
        mine = churn.chance.choice(own)
        with torch.cuda.stream(mine):
            churn.step(24)
        other = churn.chance.choice(own)
        if churn.held and churn.chance.random() < 0.4:
            with torch.cuda.stream(other):
                torch.cuda._sleep(churn.chance.randrange(10_000, 3_000_000))
            churn.chance.choice(churn.held).record_stream(other)
        if number % 100 == 0:
            run.empty()
        if number % 50 == 0:
            run.note(f"step {number}")
    torch.cuda.synchronize()
    for size in (3 * MIB, 30 * MIB):
        used = run.take(size)
        with torch.cuda.stream(own[1]):
            torch.cuda._sleep(1_500_000_000)
        used.record_stream(own[1])
        del used
    run.churn = churn  # type: ignore[attr-defined]


def captured(run: Run, pool: Any = None, width: int = 512) -> tuple[Any, Any]:
    """A graph of a few products, with a second stream in it, and the tensor that it leaves its result in."""
    torch = run.torch
    given = torch.ones(width, width, device=run.device)
    weights = [torch.ones(width, width, device=run.device) for _ in range(2)]
    side = torch.cuda.Stream()

    def work() -> Any:
        value = given
        for weight in weights:
            value = torch.relu(value @ weight)
        wide = torch.cat([value] * 9)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            doubled = wide * 2
        wide.record_stream(side)
        del wide
        torch.cuda.current_stream().wait_stream(side)
        return doubled.sum(0) + value

    with torch.cuda.stream(torch.cuda.Stream()):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        result = work()
    graph.replay()
    run.inputs = [*getattr(run, "inputs", []), given, weights]  # type: ignore[attr-defined]
    return graph, result


def graphs(run: Run) -> None:
    """Graphs, of which two share a pool, between programs that take and free; all are there at the end."""
    churn = Churn(run, 5, 30 * MIB)
    made = []
    for number, width in enumerate((512, 768, 1536)):
        for _ in range(50):
            churn.step(16)
        shared = made[0][0].pool() if number == 1 else None
        made.append(captured(run, shared, width))
        run.note(f"graph {number}")
    for _ in range(50):
        churn.step(16)
    run.churn, run.made = churn, made  # type: ignore[attr-defined]


def pools(run: Run) -> None:
    """Two memory pools beside the default one; both are there at the end."""
    torch = run.torch
    own = [torch.cuda.MemPool(), torch.cuda.MemPool()]
    churn = Churn(run, 6, 30 * MIB)
    inside = [Churn(run, 7, 30 * MIB), Churn(run, 8, 30 * MIB)]
    for number in range(1, 13):
        for _ in range(12):
            churn.step(14)
        each = number % 2
        with torch.cuda.use_mem_pool(own[each]):
            for _ in range(12):
                inside[each].step(8)
        if number % 4 == 0:
            run.empty()
        if number % 3 == 0:
            run.note(f"turn {number}")
    run.churn, run.own = (churn, inside), own  # type: ignore[attr-defined]


def pools_dropped(run: Run) -> None:
    """Pools that go: with nothing in them, with a tensor that lives on, a graph's; the default one keeps its own."""
    torch = run.torch
    churn = Churn(run, 9, 30 * MIB)
    for number in range(3):
        for _ in range(30):
            churn.step(14)
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            inside = Churn(run, 20 + number, 40 * MIB)
            for _ in range(20):
                inside.step(10)
        left = inside.held[:1] if number == 1 else []
        del inside
        free = [run.take(size * MIB) for size in (14, 34, 3)]
        del free
        del pool
        run.note(f"pool {number}")
        for _ in range(30):
            churn.step(14)
        del left
        if number == 1:
            run.empty()
            run.note("emptied")
    graph, result = captured(run, width=1024)
    graph.reset()
    del graph, result
    run.empty()
    for _ in range(30):
        churn.step(14)
    run.churn = churn  # type: ignore[attr-defined]


def expandable_graphs(run: Run) -> None:
    """Expandable segments: graphs and a second stream, and pages that go back where `empty_cache` is called."""
    torch = run.torch
    churn = Churn(run, 10, 70 * MIB)
    second = torch.cuda.Stream()
    made = []
    for number in range(1, 241):
        with torch.cuda.stream(second if number % 4 == 0 else torch.cuda.current_stream()):
            churn.step(18)
        if number % 40 == 0:
            run.empty()
            run.note(f"step {number}")
        if number in (90, 170):
            made.append(captured(run))
    run.churn, run.made = churn, made  # type: ignore[attr-defined]


GROWING = {
    "growing_defaults": "",
    "growing_expandable": "expandable_segments:True",
    "growing_max_split": "max_split_size_mb:128",
    "growing_rounded": "roundup_power2_divisions:8",
    "growing_collected": "garbage_collection_threshold:0.6,per_process_memory_fraction:0.03",
}
"""One program under several settings, which a replay of the first predicts."""
_IN_PARTS = "roundup_power2_divisions:[1:2,4:8,64:4,>:16]"
PROGRAMS = (
    Program(
        "out_of_memory",
        "defaults, at most 300 MiB: retries and errors",
        churning(1, 900, 40, 90 * MIB),
        limit=300 * MIB,
        by_requests=True,
    ),
    Program("emptied", "defaults, empty_cache now and then", churning(2, 900, 40, 60 * MIB, empties=70)),
    Program(
        "max_split",
        "a largest size to split, at most 450 MiB: oversized segments go back, retries, errors",
        churning(12, 900, 40, 120 * MIB),
        "max_split_size_mb:32,max_non_split_rounding_mb:40",
        450 * MIB,
        True,
    ),
    Program(
        "rounded_in_parts", "parts of powers of two by size", churning(13, 900, 40, 150 * MIB), _IN_PARTS, None, True
    ),
    Program(
        "collected",
        "a threshold for collecting, the fraction in the same text",
        churning(14, 900, 40, 300 * MIB),
        "garbage_collection_threshold:0.6,per_process_memory_fraction:0.015",
        None,
        True,
    ),
    Program(
        "training_collected",
        "a model's training, a threshold for collecting, at most 600 MiB by a call",
        training,
        "garbage_collection_threshold:0.5",
        600 * MIB,
        True,
        True,
    ),
    Program("streams", "three streams with record_stream", streams),
    Program("graphs", "CUDA graphs in pools of their own, kept", graphs),
    Program("pools", "two torch.cuda.MemPool, kept", pools),
    Program("pools_dropped", "pools and a graph that are dropped", pools_dropped),
    Program(
        "expandable_full",
        "expandable segments, at most 250 MiB: pages go back, retries, errors",
        churning(16, 900, 40, 90 * MIB),
        "expandable_segments:True",
        250 * MIB,
        True,
    ),
    Program(
        "expandable_graphs",
        "expandable segments, graphs, two streams, empty_cache",
        expandable_graphs,
        "expandable_segments:True",
    ),
    Program(
        "larger_segments",
        "segments of 64 MiB for sizes below 10 MiB",
        churning(17, 900, 60, 40 * MIB),
        "large_segment_size_mb:64",
        None,
        True,
    ),
    Program(
        "smaller_segments",
        "segments of 12 MiB, with parts of powers of two",
        churning(18, 900, 60, 40 * MIB),
        "large_segment_size_mb:12,roundup_power2_divisions:4",
        None,
        True,
    ),
    *(
        Program(name, f"growing sequences, {settings or 'defaults'}", growing, settings, None, True)
        for name, settings in GROWING.items()
    ),
)


def write_record(program: Program, folder: Path) -> None:
    """Run a program here, write its record and its figures, and say in a line of JSON how large they are."""
    run = Run(program.limit)
    program.run(run)
    run.note("end")
    told = shortened(run.torch.cuda.memory._snapshot(), all_frames=program.all_frames)
    packed = gzip.compress(pickle.dumps(told, 4), 9, mtime=0)
    figures = {
        "name": program.name,
        "what": program.what,
        "torch": run.torch.__version__,
        "device": run.torch.cuda.get_device_name(0),
        "settings": program.settings,
        "total_bytes": run.total,
        "fraction": run.fraction,
        "by_requests": program.by_requests,
        "emptied_at": run.empties,
        "moments": run.moments,
    }
    for ending, data in ((SNAPSHOT, packed), (FIGURES, (json.dumps(figures, indent=1) + "\n").encode())):
        written = folder / f"{program.name}{ending}.part"
        written.write_bytes(data)
        written.rename(folder / f"{program.name}{ending}")
    reserved = run.moments[-1]["counts"]["reserved_bytes.all.peak"]
    print(json.dumps({"events": len(told["device_traces"][0]), "reserved": reserved, "bytes": len(packed)}))


def shortened(told: dict[str, Any], *, all_frames: bool) -> dict[str, Any]:
    """A snapshot of the first device, with the lines of this file alone in its stacks, or with all; paths are cut."""
    frames: dict[tuple[str, str, int], dict[str, Any]] = {}
    stacks: dict[tuple[int, ...], list[dict[str, Any]]] = {}

    def frame_of(frame: dict[str, Any]) -> dict[str, Any] | None:
        file = str(frame["filename"])
        is_own = Path(file).name == Path(__file__).name
        if not (is_own or all_frames):
            return None
        file = Path(file).name if is_own else "/" + file[max(file.find("site-packages/"), 0) :].lstrip("/")
        key = (str(frame["name"]), file, int(frame["line"]))
        return frames.setdefault(key, {"name": key[0], "filename": key[1], "line": key[2]})

    def stack_of(stack: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = [found for each in stack if (found := frame_of(each)) is not None]
        return stacks.setdefault(tuple(map(id, kept)), kept)

    def row(of: dict[str, Any]) -> dict[str, Any]:
        return {**of, "frames": stack_of(of["frames"])} if "frames" in of else dict(of)

    segments = [
        {**row(segment), "blocks": [row(block) for block in segment["blocks"]]}
        for segment in told["segments"]
        if segment["device"] == 0
    ]
    return {**told, "segments": segments, "device_traces": [[row(event) for event in told["device_traces"][0]]]}


def record_all(programs: Sequence[Program], folder: Path, command: Sequence[str]) -> int:
    """Run `command`, a program's name and the folder, for each, several at once; how many of them failed."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        jobs = [(each, threads.submit(_recorded, each, folder, command)) for each in programs]
        failures = 0
        for program, job in jobs:
            is_well, text = job.result()
            failures += not is_well
            print(f"{program.name:<20} {text}", flush=True)
    return failures


def _recorded(program: Program, folder: Path, command: Sequence[str]) -> tuple[bool, str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        environment.pop(name, None)
        if program.settings:
            environment[name] = program.settings
    try:
        found = subprocess.run(
            [*command, program.name, str(folder)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"failed: not done after {LONGEST_S} s"
    lines = [line for line in (found.stdout, found.stderr) for line in line.splitlines() if line.strip()]
    try:
        told = json.loads(found.stdout.strip().splitlines()[-1]) if found.returncode == 0 else None
    except (IndexError, ValueError):
        told = None
    if told is None:
        errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
        return False, f"failed: {(errors or lines or [f'ended with {found.returncode}'])[-1]}"
    return True, f"{told['events']:>6,} events {told['reserved']:>14,} bytes reserved {told['bytes']:>7,} bytes  ok"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where all programs were recorded, 1 where some failed, 2 where there is no device or no such program."""
    parser = argparse.ArgumentParser(description="Records torch's CUDA allocator under settings of every kind.")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("names", nargs="*", help="these programs alone")
    parser.add_argument("--list", action="store_true", help="say which programs there are")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    if told.list:
        for program in PROGRAMS:
            print(f"{program.name:<20} {program.settings or 'defaults'}: {program.what}")
        return 0
    unknown = set(told.names) - {program.name for program in PROGRAMS}
    if told.folder is None or unknown:
        print(f"no such program: {', '.join(sorted(unknown))}" if unknown else "name a folder", file=sys.stderr)
        return 2
    if told.one is not None:
        write_record(next(program for program in PROGRAMS if program.name == told.one), told.folder)
        sys.stdout.flush()
        os._exit(0)  # graphs and pools that outlive the device's context can end a process with an error
    if not _has_cuda():
        print(NEEDS_CUDA, file=sys.stderr)
        return 2
    told.folder.mkdir(parents=True, exist_ok=True)
    chosen = [program for program in PROGRAMS if not told.names or program.name in told.names]
    return 1 if record_all(chosen, told.folder, (sys.executable, str(Path(__file__).resolve()), "--one")) else 0


def _has_cuda() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


if __name__ == "__main__":
    sys.exit(main())
