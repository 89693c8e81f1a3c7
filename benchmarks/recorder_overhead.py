"""What recording costs a training step, with default settings: share of our own hooks, and wall clock.

    python benchmarks/recorder_overhead.py [--rounds 8] [--steps 60] [--device cuda] [--only MODEL] [--json FILE]

Rounds of plain and of recorded steps alternate in one process; the ratio is that of their median steps. The A/A band
is the same ratio between the odd and the even plain rounds. `hooks` is the time inside our own hooks in the usual
step: not the first, none that is profiled, none before, with or after a census. `once` is all the rest of a round:
the copies of the sources, the two profiled steps, the censuses (six seconds of processor time in all, then 1% of the
wall time). Bound of `hooks` for steps of 50 ms or more: 1%.

On a device each step is timed until the device is done with it, and a larger transformer is measured beside.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def mlp(device: str) -> Callable[[], None]:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    return step_of(model, torch.randn(32, 64), device)


def transformer(device: str) -> Callable[[], None]:
    import torch
    from torch import nn

    layer = nn.TransformerEncoderLayer(192, 4, 512, batch_first=True)
    return step_of(nn.TransformerEncoder(layer, 3), torch.randn(8, 96, 192), device)


def large_transformer(device: str) -> Callable[[], None]:
    import torch
    from torch import nn

    layer = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    return step_of(nn.TransformerEncoder(layer, 12), torch.randn(8, 512, 1024), device)


def thousand_modules(device: str) -> Callable[[], None]:
    import torch
    from torch import nn

    return step_of(nn.Sequential(*[nn.Linear(4, 4) for _ in range(1000)]), torch.randn(2, 4), device)


def step_of(model: Any, inputs: Any, device: str) -> Callable[[], None]:
    import torch

    model, inputs = model.to(device), inputs.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if device != "cpu":
            torch.cuda.synchronize()

    return step


def timed(step: Callable[[], None], steps: int) -> list[float]:
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times


@dataclasses.dataclass
class Watched:
    """Recorded steps: seconds of each, our own of each, and the numbers of those that every step is like."""

    seconds: list[float]
    own: list[float]
    usual: list[int]


def watch(step: Callable[[], None], steps: int, folder: Path) -> Watched:
    from tenure.capture.monitor import Monitor
    from tenure.store.recording_file import open_recording

    folder.mkdir()
    monitor = Monitor(lambda: folder)
    seconds, own = [], [monitor.own_seconds]
    for _ in range(steps):
        seconds += timed(step, 1)
        own.append(monitor.own_seconds)
    monitor.close()
    made = open_recording(folder)
    once = {1} | {entry.step + later for entry in (*made.censuses, *made.profiles) for later in (-1, 0, 1)}
    usual = [number for number in range(steps) if number + 1 not in once]
    return Watched(seconds, [after - before for before, after in itertools.pairwise(own)], usual)


def median_of(rounds: list[list[float]]) -> float:
    return statistics.median(itertools.chain.from_iterable(rounds))


def measure(make: Callable[[str], Callable[[], None]], rounds: int, steps: int, device: str) -> dict[str, float]:
    step = make(device)
    timed(step, 5)
    plain, watched = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            plain.append(timed(step, steps))
            watched.append(watch(step, steps, Path(folder) / str(number)))
    of_usual = [one.own[number] for one in watched for number in one.usual]
    all_usual = sum(one.seconds[number] for one in watched for number in one.usual)
    return {
        "step_seconds": median_of(plain),
        "hooks_percent": 100 * sum(of_usual) / all_usual,
        "hooks_microseconds_per_step": 1e6 * statistics.mean(of_usual),
        "once_seconds": sum(sum(one.own) for one in watched) / rounds - steps * statistics.mean(of_usual),
        "ratio": median_of([one.seconds for one in watched]) / median_of(plain),
        "same_against_same": median_of(plain[::2]) / median_of(plain[1::2]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", action="append", metavar="MODEL", help="of these, by name")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    found = {}
    print("                     step ms   hooks %  hooks us/step    once s   ratio     A/A")
    steps = [("MLP", mlp), ("transformer", transformer), ("thousand modules", thousand_modules)]
    if options.device != "cpu":
        steps.insert(2, ("large transformer", large_transformer))
    for name, make in steps:
        if options.only and name not in options.only:
            continue
        row = found[name] = measure(make, options.rounds, options.steps, options.device)
        print(
            f"{name:18} {row['step_seconds'] * 1e3:9.2f} {row['hooks_percent']:9.3f} "
            f"{row['hooks_microseconds_per_step']:14.1f} {row['once_seconds']:9.2f} {row['ratio']:7.3f} "
            f"{row['same_against_same']:7.3f}"
        )
    if options.json:
        options.json.write_text(json.dumps({"format": 1, "steps": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
