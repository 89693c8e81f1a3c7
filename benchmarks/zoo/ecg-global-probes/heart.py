import torch
from torch import nn


class Beat(nn.Module):
    def __init__(self, width, stride):
        super().__init__()
        self.path = nn.Sequential(nn.Conv1d(width, width, 7, stride, 3), nn.BatchNorm1d(width), nn.ReLU())
        self.skip = nn.AvgPool1d(stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return self.path(x) + self.skip(x)


class RhythmNet(nn.Module):
    def __init__(self, leads=3, width=24, rhythms=4):
        super().__init__()
        self.stem = nn.Conv1d(leads, width, 5, padding=2)
        self.beats = nn.Sequential(*(Beat(width, stride) for stride in (2, 1, 2, 1)))
        self.head = nn.Linear(width, rhythms)

    def forward(self, trace):
        return self.head(self.beats(self.stem(trace)).mean(-1))


def recordings(total, length=240, seed=12):
    generator = torch.Generator().manual_seed(seed)
    rhythm = torch.randint(4, (total,), generator=generator)
    phase = 6 * torch.rand(total, 3, 1, generator=generator)
    pace = 0.08 + 0.05 * rhythm[:, None, None]
    traces = torch.sin(pace * torch.arange(length) + phase) ** 9
    return traces + 0.2 * torch.randn(traces.shape, generator=generator), rhythm
