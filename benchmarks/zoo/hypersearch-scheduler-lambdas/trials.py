from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F

import schedules


@dataclass(frozen=True)
class Setting:
    width: int
    lr: float
    warmup: int

    @property
    def name(self):
        return f"w{self.width}-lr{self.lr:g}-u{self.warmup}"


class Trial:
    schedule = staticmethod(schedules.weight_scaled)

    def __init__(self, setting):
        self.network = nn.Sequential(
            nn.Linear(28, setting.width), nn.Mish(), nn.Linear(setting.width, setting.width), nn.Mish(),
            nn.Linear(setting.width, 1),
        )
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=setting.lr, momentum=0.9)
        self.rates = self.schedule(setting.name, self.optimizer, self.network, setting.warmup)

    def run(self, rows, wanted, steps):
        for _ in range(steps):
            loss = F.mse_loss(self.network(rows).squeeze(-1), wanted)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.rates.step()
        return loss.item()


def grid():
    for width in (120, 128, 136):
        for lr in (0.02, 0.05):
            for warmup in (1, 3):
                yield Setting(width, lr, warmup)
