"""What recording costs a training step, with default settings: share of our own hooks, and wall clock.

    python benchmarks/recorder_overhead.py [--rounds 8] [--steps 60] [--json FILE]

Rounds of plain and of recorded steps alternate in one process; the ratio is that of their median steps. The A/A band
is the same ratio between the odd and the even plain rounds. `share` counts the time inside our own hooks, censuses
included (they keep to 3% of the time by themselves), `hooks` without them. Bound for steps of 50 ms or more: 1%.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def mlp() -> Callable[[], None]:
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    return step_of(model, torch.randn(32, 64))


def transformer() -> Callable[[], None]:
    import torch
    from torch import nn

    layer = nn.TransformerEncoderLayer(192, 4, 512, batch_first=True)
    return step_of(nn.TransformerEncoder(layer, 3), torch.randn(8, 96, 192))


def thousand_modules() -> Callable[[], None]:
    import torch
    from torch import nn

    return step_of(nn.Sequential(*[nn.Linear(4, 4) for _ in range(1000)]), torch.randn(2, 4))


def step_of(model: Any, inputs: Any) -> Callable[[], None]:
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step() -> None:
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def timed(step: Callable[[], None], steps: int) -> list[float]:
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times


def median_of(rounds: list[list[float]]) -> float:
    return statistics.median(itertools.chain.from_iterable(rounds))


def measure(make: Callable[[], Callable[[], None]], rounds: int, steps: int) -> dict[str, float]:
    from tenure.capture.record import record

    step = make()
    timed(step, 5)
    plain, watched, end_rows = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            plain.append(timed(step, steps))
            path = Path(folder) / str(number)
            with record(path):
                watched.append(timed(step, steps))
            rows = [json.loads(line) for line in (path / "rows-000001.jsonl").read_text().splitlines()]
            end_rows += [row for row in rows if row["kind"] == "end"]
    total = sum(map(sum, watched))
    own = sum(row["own_seconds"] for row in end_rows)
    census = sum(row["census_seconds"] for row in end_rows)
    return {
        "step_seconds": median_of(plain),
        "share_percent": 100 * own / total,
        "hooks_percent": 100 * (own - census) / total,
        "hooks_microseconds_per_step": 1e6 * (own - census) / (rounds * steps),
        "ratio": median_of(watched) / median_of(plain),
        "same_against_same": median_of(plain[::2]) / median_of(plain[1::2]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    found = {}
    print("                     step ms   share %   hooks %  hooks us/step   ratio     A/A")
    for name, make in (("MLP", mlp), ("transformer", transformer), ("thousand modules", thousand_modules)):
        row = found[name] = measure(make, options.rounds, options.steps)
        print(
            f"{name:18} {row['step_seconds'] * 1e3:9.2f} {row['share_percent']:9.3f} {row['hooks_percent']:9.3f} "
            f"{row['hooks_microseconds_per_step']:14.1f} {row['ratio']:7.3f} {row['same_against_same']:7.3f}"
        )
    if options.json:
        options.json.write_text(json.dumps({"format": 1, "steps": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
