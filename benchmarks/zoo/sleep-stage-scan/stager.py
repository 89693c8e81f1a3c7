import torch
from scan import SelectiveScan
from torch import nn
from torch.nn import functional


class ScanBlock(nn.Module):
    function = SelectiveScan

    def __init__(self, width, states):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner, self.delta = nn.Linear(width, width), nn.Linear(width, width)
        self.mix = nn.Linear(width, 2 * states)
        self.log_a = nn.Parameter(torch.arange(1.0, states + 1).log().repeat(width, 1))
        self.out = nn.Linear(width, width)

    def forward(self, x):
        u = functional.silu(self.inner(self.norm(x)))
        delta = functional.softplus(self.delta(u) - 2)
        B, C = self.mix(u).chunk(2, -1)
        return x + self.out(self.function.apply(u, delta, -self.log_a.exp(), B, C))


class SleepStager(nn.Module):
    """Stages of sleep from a night's epochs of EEG band powers."""

    def __init__(self, bands=24, width=40, states=12, depth=3, stages=5, block=ScanBlock):
        super().__init__()
        self.embed = nn.Linear(bands, width)
        self.blocks = nn.Sequential(*(block(width, states) for _ in range(depth)))
        self.head = nn.Linear(width, stages)

    def forward(self, night):
        return self.head(self.blocks(self.embed(night)))
