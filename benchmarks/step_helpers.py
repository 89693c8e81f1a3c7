"""What `tenure.step_scope()` and `tenure.LossMeter` add to a step: microseconds, bound 20 each.

    python benchmarks/step_helpers.py [--steps 2000] [--json FILE]

Steps with and without the helper alternate in blocks in one process; a step is a small forward that leaves a result
dict, its loss and its logits behind. The figure is the median block's difference per step; the A/A band is the
difference between the odd and the even blocks without the helper.
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

BOUND_MICROSECONDS = 20.0


def make_model(device: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4)).to(device)
    return model, torch.ones(8, 16, device=device)


def plain_steps(model: nn.Module, batch: torch.Tensor, steps: int) -> float:
    start = time.perf_counter()
    for _ in range(steps):
        with contextlib.nullcontext():
            logits = model(batch)
            retval = {"loss": logits.mean(), "stats": {"count": 8}}
            loss = retval["loss"]
            loss.backward()
    return (time.perf_counter() - start) / steps


def scoped_steps(model: nn.Module, batch: torch.Tensor, steps: int) -> float:
    from tenure.release.scopes import step_scope

    start = time.perf_counter()
    for _ in range(steps):
        with step_scope():
            logits = model(batch)
            retval = {"loss": logits.mean(), "stats": {"count": 8}}
            loss = retval["loss"]
            loss.backward()
    return (time.perf_counter() - start) / steps


def metered_steps(model: nn.Module, batch: torch.Tensor, steps: int) -> float:
    from tenure.release.losses import LossMeter

    meter = LossMeter()
    start = time.perf_counter()
    for _ in range(steps):
        with contextlib.nullcontext():
            logits = model(batch)
            retval = {"loss": logits.mean(), "stats": {"count": 8}}
            loss = retval["loss"]
            loss.backward()
            meter.update(loss)
    return (time.perf_counter() - start) / steps


def measure(helper, model: nn.Module, batch: torch.Tensor, steps: int) -> dict[str, float]:
    block, blocks = 50, max(8, steps // 50)
    helper(model, batch, block)
    added, odd, even = [], [], []
    for number in range(blocks):
        before = plain_steps(model, batch, block)
        added.append(helper(model, batch, block) - before)
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
    print(f"{'helper':14}{'step us':>10}{'added us':>10}{'A/A us':>8}")
    for name, helper in (("step_scope", scoped_steps), ("LossMeter", metered_steps)):
        model, batch = make_model(device)
        results[name] = found = measure(helper, model, batch, arguments.steps)
        print(f"{name:14}{found['step_us']:10.1f}{found['added_us']:10.1f}{found['aa_us']:8.1f}")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"device": device, **results}, indent=1))


if __name__ == "__main__":
    main()
