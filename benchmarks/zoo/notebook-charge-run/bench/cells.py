"""The cells of the battery notebook."""

import signal

import torch
import torch.nn.functional as F
from torch import nn


class ChargeCurves:
    """Current, voltage and temperature over a charge; the target is the capacity that is left."""

    def __init__(self, seed, length=256):
        self.gen = torch.Generator().manual_seed(seed)
        self.time = torch.linspace(0, 1, length)

    def draw(self, count):
        health = torch.rand(count, 1, generator=self.gen)
        current = torch.exp(-self.time / (0.2 + health))
        voltage = 3.2 + self.time * (1.2 - 0.4 * health)
        heat = torch.randn(count, len(self.time), generator=self.gen).mul(0.05).add(health * self.time)
        return torch.stack([current, voltage, heat], dim=1), health.squeeze(1)


class CapacityNet(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Conv1d(3, width, 9, padding=4)
        self.body = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.inp(x)
        for conv in self.body:
            x = x + F.gelu(conv(x))
        return self.out(x.mean(dim=2)).squeeze(1)


class Supervisor:
    """Stands in for the person in front of the notebook: stops a run that looks too slow."""

    def __init__(self, patience):
        self.patience = patience

    def watch(self, step, loss):
        if step >= self.patience:
            signal.raise_signal(signal.SIGINT)


def fit(net, curves, steps, batch, supervisor=None):
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for step in range(1, steps + 1):
        x, health = curves.draw(batch)
        loss = F.mse_loss(net(x), health)
        if supervisor is not None:
            supervisor.watch(step, loss.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"  step {step}: mse {loss.item():.4f}")
    return loss.item()


def cell_setup(ns):
    torch.manual_seed(4)
    ns["curves"] = ChargeCurves(seed=12)


def cell_wide(ns):
    score = fit(CapacityNet(width=96, depth=5), ns["curves"], 60, 32, Supervisor(patience=6))
    return f"wide net: {score:.4f}"


def cell_narrow(ns):
    score = fit(CapacityNet(width=48, depth=3), ns["curves"], 24, 32)
    return f"narrow net: {score:.4f}"


NOTEBOOK = (cell_setup, cell_wide, cell_narrow)
