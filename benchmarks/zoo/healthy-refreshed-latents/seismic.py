import torch
from torch import nn


class TraceEncoder(nn.Module):
    def __init__(self, width=96, out=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, width, 16, 8),
            nn.GELU(),
            nn.Conv1d(width, 2 * width, 8, 4),
            nn.GELU(),
            nn.Conv1d(2 * width, 2 * width, 5, 2),
            nn.GELU(),
        )
        self.out = nn.Linear(2 * width, out)

    def forward(self, traces):
        return self.out(self.layers(traces[:, None]).mean(-1))


class Catalogue:
    """Ground motion of small quakes near and far."""

    def __init__(self, count=96, length=2048, seed=14):
        generator = torch.Generator().manual_seed(seed)
        self.depth = torch.rand(count, generator=generator) * 3
        ticks = torch.arange(length) / length
        self.traces = torch.sin(40 * ticks * (1 + self.depth[:, None])) * torch.exp(-3 * ticks)
        self.noise = torch.Generator().manual_seed(seed + 1)

    def __len__(self):
        return len(self.depth)

    def heard(self, rows):
        traces = self.traces[rows]
        return traces + 0.2 * torch.randn(traces.shape, generator=self.noise)
