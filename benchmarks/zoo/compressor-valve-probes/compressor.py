from __future__ import annotations

import torch
import torch.nn.functional as F
from probes import Probe, Probes
from torch import nn


class ValveNet(nn.Module):
    """Finds worn valves of a piston compressor in its pressure trace."""

    def __init__(self, samples: int = 180, width: int = 256, valves: int = 8) -> None:
        super().__init__()
        self.trace = nn.Linear(samples, width)
        self.gates = nn.Linear(samples, width)
        self.mixer = nn.Linear(width, width)
        self.valves = nn.Linear(width, valves)

    def forward(self, pressure: torch.Tensor) -> torch.Tensor:
        hidden = torch.tanh(self.trace(pressure)) * torch.sigmoid(self.gates(pressure))
        return self.valves(torch.relu(self.mixer(hidden)))


class ValveTrainer:
    def __init__(self, model: ValveNet, probe: type[Probe] = Probe) -> None:
        self.model = model
        self.probe = probe
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.activity = 1.0

    def step(self, pressure: torch.Tensor, faulty: torch.Tensor) -> float:
        with Probes(self.model, "gates", "mixer", probe=self.probe) as probes:
            loss = F.binary_cross_entropy_with_logits(self.model(pressure), faulty)
            summary = probes.summary()
        self.activity = 0.9 * self.activity + 0.1 * summary["mixer"] / (summary["gates"] + 1e-6)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
