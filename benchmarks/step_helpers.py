"""What `tenure.step_scope()` and `tenure.LossMeter` add to a step: microseconds, bound 20 each.

    python benchmarks/step_helpers.py [--steps 2000] [--json FILE]

Steps with and without the helper alternate in blocks in one process; a step is a small forward and backward. The
figure is the median block's difference per step; the A/A band is the difference between the odd and the even blocks
without the helper: above a microsecond or two the machine was too busy to tell.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import time
from pathlib import Path

import torch
from torch import nn

from tenure.release.steps.losses import LossMeter
from tenure.release.steps.scopes import step_scope

BOUND_MICROSECONDS = 20.0
clock = time.perf_counter if torch.cuda.is_available() else time.thread_time
"""On the CPU the thread's own time, in which other processes take no part; with a device a wait would count too."""


def make_model(device: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)
    return model, torch.ones(8, 16, device=device)


def nothing():
    return contextlib.nullcontext()


def steps_with_dict(model: nn.Module, batch: torch.Tensor, steps: int, around, take) -> float:
    """Leaves a dict of results, its loss, and logits behind."""
    start = clock()
    for _ in range(steps):
        with around():
            logits = model(batch)
            retval = {"loss": logits.mean(), "stats": {"count": 8}}
            loss = retval["loss"]
            loss.backward()
            take(loss)
    return (clock() - start) / steps


def steps_with_loss(model: nn.Module, batch: torch.Tensor, steps: int, around, take) -> float:
    """Leaves loss and logits behind."""
    start = clock()
    for _ in range(steps):
        with around():
            logits = model(batch)
            loss = logits.mean()
            loss.backward()
            take(loss)
    return (clock() - start) / steps


def steps_without_graph(model: nn.Module, batch: torch.Tensor, steps: int, around, take) -> float:
    """Leaves no graph behind: what the scope costs where there is nothing to do."""
    start = clock()
    for _ in range(steps):
        with around():
            logits = model(batch)
            loss = logits.mean()
            loss.backward()
            take(loss)
            del logits, loss
    return (clock() - start) / steps


def leave(loss: torch.Tensor) -> None:
    """Does nothing with the loss, at the price of a call."""


def make_meter():
    return LossMeter().update


CASES = {
    "step_scope, nothing to cut": (steps_without_graph, step_scope, None),
    "step_scope, loss and logits": (steps_with_loss, step_scope, None),
    "step_scope, and a dict": (steps_with_dict, step_scope, None),
    "LossMeter": (steps_with_loss, nothing, make_meter),
}


def measure(case: str, model: nn.Module, batch: torch.Tensor, steps: int) -> dict[str, float]:
    run, around, make_take = CASES[case]
    take = make_take() if make_take else leave
    block, blocks = 50, max(8, steps // 50)
    run(model, batch, block, around, take)
    added, odd, even = [], [], []
    for number in range(blocks):
        before = run(model, batch, block, nothing, leave)
        added.append(run(model, batch, block, around, take) - before)
        (odd if number % 2 else even).append(before)
    return {
        "step_us": statistics.median(odd + even) * 1e6,
        "added_us": statistics.median(added) * 1e6,
        "aa_us": abs(statistics.median(odd) - statistics.median(even)) * 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    results = {}
    print(f"on {device}; bound {BOUND_MICROSECONDS:g} us per step")
    print(f"{'helper':30}{'step us':>10}{'added us':>10}{'A/A us':>8}")
    for name in CASES:
        model, batch = make_model(device)
        results[name] = found = measure(name, model, batch, arguments.steps)
        print(f"{name:30}{found['step_us']:10.1f}{found['added_us']:10.1f}{found['aa_us']:8.1f}")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"device": device, **results}, indent=1))


if __name__ == "__main__":
    main()
