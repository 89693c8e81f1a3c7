import math

import torch
from torch import nn


class LevelForecaster(nn.Module):
    """River level at the next hour from rain and levels upstream."""

    def __init__(self, gauges=12, hidden=160):
        super().__init__()
        self.slow = nn.LSTM(gauges, hidden, batch_first=True)
        self.quick = nn.GRU(hidden, hidden, batch_first=True)
        self.level = nn.Linear(hidden, gauges)

    def forward(self, window, memory):
        slow, memory["slow"] = self.slow(window, memory["slow"])
        quick, memory["quick"] = self.quick(slow, memory["quick"])
        return window + self.level(quick)


def record(windows, catchments=24, gauges=12, hours=10, seed=331):
    """One long record, cut into windows that follow each other."""
    g = torch.Generator().manual_seed(seed)
    phase = torch.rand(catchments, 1, gauges, generator=g) * math.tau
    hour = torch.arange(windows * hours + 1)[None, :, None]
    levels = torch.sin(hour / 9 + phase) + 0.4 * torch.sin(hour / 31 + 2 * phase)
    levels = levels + 0.05 * torch.randn(levels.shape, generator=g)
    for start in range(0, windows * hours, hours):
        yield levels[:, start : start + hours], levels[:, start + 1 : start + hours + 1]
