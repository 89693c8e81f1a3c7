"""Figures that articles repeat, measured where that can be done without a GPU: the table of docs/claims.md.

    python benchmarks/claims.py [--json FILE]

Small models are trained for four steps on the CPU; two of them are planned as `tenure plan` does, so that bytes are
those of blocks as CUDA's allocator rounds them. Nothing here depends on time or on the machine's load.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenure.model.plan import Plan

Step = Callable[[], None]
DEPTHS = (4, 16, 64)


def planned(make: Callable[[], Step], settings: str = "") -> Plan:
    """The plan of four steps of a small training."""
    import torch

    from tenure.capture.monitor import Monitor
    from tenure.capture.options import MonitorOptions
    from tenure.planning.predict import predict
    from tenure.store.stream_file import read_stream

    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        step = make()
        options = MonitorOptions(profile_step=2, experiment_step=0, census_at=(), budget_percent=100.0, plans=True)
        monitor = Monitor(lambda: folder, options=options)
        try:
            for _ in range(4):
                step()
        finally:
            monitor.close()
        return predict(read_stream(folder / "stream-000003.npz"), settings=settings)


def language_model(*, vocabulary: int, stale: bool) -> Step:
    """A small transformer; `stale`: logits and loss of the step before are still named in the next forward."""
    import torch
    from torch import nn

    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(vocabulary, 128), nn.TransformerEncoder(layer, 2), nn.Linear(128, vocabulary))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    named: list[torch.Tensor] = []

    def step() -> None:
        tokens = torch.randint(vocabulary, (8, 65))
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        named.clear()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if stale:
            named.extend((logits, loss))

    return step


def perceptron(*, rows: int, autocast: bool) -> Step:
    """Eight wide layers with AdamW; few rows: the memory is parameters', many: activations'. The step holds its batch,
    which autocast does not shrink."""
    import torch
    from torch import nn

    model = nn.Sequential(*(part for _ in range(8) for part in (nn.Linear(512, 512), nn.GELU())))
    optimizer = torch.optim.AdamW(model.parameters())

    def step() -> None:
        batch = torch.randn(rows, 512)
        with torch.autocast("cpu", torch.bfloat16) if autocast else nullcontext():
            loss = model(batch).float().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def chain(*, depth: int, segments: int | None) -> Step:
    """So many equal layers whose activations are far more than their parameters, in so many checkpoints."""
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint_sequential

    model = nn.Sequential(*(nn.Sequential(nn.Linear(32, 32), nn.Tanh()) for _ in range(depth)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        rows = torch.randn(8192, 32)
        done = model(rows) if segments is None else checkpoint_sequential(model, segments, rows, use_reentrant=False)
        done.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def less(before: Plan, after: Plan) -> int:
    """Percent by which the peak is lower."""
    return round(100 * (1 - after.peak_active_bytes / before.peak_active_bytes))


def less_in_forward(before: Plan, after: Plan) -> int:
    """Percent by which the peak of the forward alone is lower."""
    from tenure.model.plan import Part

    return round(100 * (1 - after.peaks[Part.FORWARD] / before.peaks[Part.FORWARD]))


def measure() -> dict[str, str]:
    """What was found of each claim that can be measured here, by its name in the page."""
    stale = [
        [planned(lambda s=s, v=v: language_model(vocabulary=v, stale=s)) for s in (True, False)] for v in (100, 8000)
    ]
    lost = [less(*pair) for pair in stale]
    forward = [less_in_forward(*pair) for pair in stale]
    cast = [
        less(*(planned(lambda a=a, r=r: perceptron(rows=r, autocast=a)) for a in (False, True))) for r in (64, 16384)
    ]
    plain = [planned(lambda d=d: chain(depth=d, segments=None)).peak_active_bytes for d in DEPTHS]
    every = [planned(lambda d=d: chain(depth=d, segments=d)).peak_active_bytes for d in DEPTHS]
    roots = [planned(lambda d=d: chain(depth=d, segments=round(d**0.5))).peak_active_bytes for d in DEPTHS]
    used = [
        round(100 * found.peak_active_bytes / found.peak_reserved_bytes)
        for settings in ("", "expandable_segments:True")
        for found in [planned(lambda: language_model(vocabulary=8000, stale=False), settings)]
    ]
    growth = ", ".join(
        f"{name} {' and '.join(f'{later / row[0]:.1f}' for later in row[1:])}"
        for name, row in (("none", plain), ("each layer", every), ("root of the depth", roots))
    )
    return {
        "stale loss": f"{lost[0]} % of the peak with 100 words, {lost[1]} % with 8,000; "
        f"of the forward's own peak {forward[0]} and {forward[1]} %",
        "autocast": f"{cast[0]} % of the peak less with 64 rows, {cast[1]} % with 16,384",
        "checkpointing": f"peak at 16 and 64 layers over that at 4, by checkpoints: {growth}",
        "expandable segments": f"{used[0]} % of what is reserved in use at the peak, {used[1]} % with them",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    found = measure()
    for name, text in found.items():
        print(f"| {name} | {text} |")
    if options.json:
        options.json.write_text(json.dumps({"format": 1, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
