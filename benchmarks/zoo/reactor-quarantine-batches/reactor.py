from __future__ import annotations

import torch
import torch.nn.functional as F
from checks import validate
from quarantine import Quarantine
from torch import Tensor, nn


class ConversionNet(nn.Module):
    """Degree of conversion from the sensors of a stirred tank."""

    def __init__(self, channels: int = 6, width: int = 32) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, width, 9, stride=4)
        self.head = nn.Linear(width, 1)

    def forward(self, readings: Tensor) -> Tensor:
        return self.head(F.silu(self.conv(readings)).mean(-1)).squeeze(-1)


class Plant:
    """Two tanks; the second has a loose plug."""

    def __init__(self, seed: int = 221) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def shift(self, batch: int = 24, channels: int = 6, samples: int = 120) -> list[tuple[Tensor, Tensor]]:
        tanks = []
        for tank in range(2):
            conversion = torch.rand(batch, generator=self.generator)
            noise = torch.randn(batch, channels, samples, generator=self.generator)
            readings = noise + conversion[:, None, None] * noise.roll(1, -1)
            if tank == 1:
                row, channel = torch.randint(channels, (2,), generator=self.generator).tolist()
                readings[row, channel] = 1.0
            tanks.append((readings, conversion))
        return tanks


def train_shift(model: nn.Module, optimizer: torch.optim.Optimizer, quarantine: Quarantine, plant: Plant) -> float:
    total = 0.0
    for readings, conversion in plant.shift():
        with quarantine:
            clean = validate(readings)
            loss = F.mse_loss(model(clean), conversion)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
    return total
