from __future__ import annotations

from pathlib import Path

import torch
from torch.amp.grad_scaler import GradScaler

from capture.recorder import recording


def test_a_step_that_a_scaler_skips_for_infinite_gradients_is_a_step(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler, before = torch.amp.GradScaler("cpu"), GradScaler.step
    weights = []
    with recording(tmp_path) as monitor:
        for turn in range(6):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 3)).sum() * (float("inf") if turn % 3 == 2 else 1.0)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            weights.append(model.weight.detach().clone())

    assert torch.equal(weights[1], weights[2])
    assert monitor.step == 6
    assert GradScaler.step is before


def test_a_switched_off_scaler_counts_each_step_once(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    with recording(tmp_path) as monitor:
        for _ in range(3):
            scaler.scale(model(torch.ones(2, 3)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()

    assert monitor.step == 3
