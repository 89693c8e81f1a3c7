"""Volume and weight of parcels from depth pictures of the belt."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from bus import Event, EventBus
from torch import nn


class ParcelNet(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.encode = nn.Conv2d(1, width, 5, stride=2, padding=2)
        self.decode = nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1)
        self.weigh = nn.Linear(width, 1)

    def forward(self, depth: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        code = torch.relu(self.encode(depth))
        return self.decode(code), self.weigh(code.mean((2, 3))).squeeze(-1)


class WorstPixel:
    """Prints now and then where the depth picture is explained worst."""

    def __init__(self, every: int = 12) -> None:
        self.every = every
        self.count = 0

    def __call__(self, event: Event) -> None:
        self.count += 1
        if self.count % self.every == 0:
            residual = event.payload["residual"].abs().mean(0).squeeze(0)
            row, column = divmod(int(residual.argmax()), residual.shape[1])
            print(f"{event.topic} #{event.number}: loss {event.payload['loss']:.4f}, worst at {row},{column}")


class BeltTrainer:
    def __init__(self, bus: EventBus) -> None:
        self.bus = bus
        self.network = ParcelNet()
        self.optimizer = torch.optim.RMSprop(self.network.parameters(), lr=2e-3)

    def fit_batch(self, depth: torch.Tensor, weight: torch.Tensor) -> None:
        picture, guess = self.network(depth)
        loss = F.mse_loss(picture, depth) + F.mse_loss(guess, weight)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.bus.publish("batch.fitted", loss=loss.item(), residual=(picture - depth).detach())
