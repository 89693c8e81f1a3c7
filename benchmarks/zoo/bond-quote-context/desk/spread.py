import torch
from torch import nn


class SpreadModel(nn.Module):
    def __init__(self, features=72, width=256):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(features, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 3)
        )

    def forward(self, features):
        return self.body(features)


def summarise(ticks):
    """Mean, deviation and last value of each series."""
    return torch.cat([ticks.mean(dim=-1), ticks.std(dim=-1), ticks[..., -1]], dim=-1)


def pinball(predicted, target, levels=(0.1, 0.5, 0.9)):
    error = target.unsqueeze(-1) - predicted
    level = predicted.new_tensor(levels)
    return torch.maximum(level * error, (level - 1) * error).mean()
