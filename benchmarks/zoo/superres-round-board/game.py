from types import SimpleNamespace

import torch
from torch import nn


class Painter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.rest = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(3))
        self.last = nn.Sequential(nn.Conv2d(width, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, coarse):
        x = self.first(coarse)
        for layer in self.rest:
            x = x + layer(x).relu_()
        return self.last(x)


class Critic(nn.Sequential):
    def __init__(self, width=8):
        super().__init__(
            nn.Conv2d(3, width, 4, 4),
            nn.ELU(inplace=True),
            nn.Conv2d(width, 2 * width, 4, 4),
            nn.ELU(inplace=True),
            nn.Conv2d(2 * width, 1, 3),
        )


class Game:
    """Two networks that play against each other, one round after the other."""

    def __init__(self, photos, phases, painter, critic):
        self.photos = iter(photos)
        self.phases = [phases[order] for order in sorted(phases)]
        self.painter, self.critic = painter, critic
        self.optimizers = {
            "painter": torch.optim.Adam(painter.parameters(), 2e-3),
            "critic": torch.optim.Adam(critic.parameters(), 1e-3),
        }

    def descend(self, side, loss):
        optimizer = self.optimizers[side]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def round(self):
        board = SimpleNamespace(report={})
        for phase in self.phases:
            phase(self, board)
        return board.report
