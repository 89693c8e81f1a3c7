import torch
from torch import nn


class MovingAverage(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.kernel = kernel

    def forward(self, x):
        pad = self.kernel // 2
        return nn.functional.avg_pool1d(nn.functional.pad(x, (pad, pad), mode="replicate"), self.kernel, 1)


class Decomposed(nn.Module):
    """A trend and two seasonal parts, each with its own forecaster."""

    components = {}

    def __init__(self, window=512, horizon=48, kernels=(25, 97)):
        super().__init__()
        self.smooth = nn.ModuleList(MovingAverage(k) for k in kernels)
        self.mix = nn.Conv1d(6, 48, 7, padding=3)
        self.back = nn.Conv1d(48, 6, 7, padding=3)
        self.heads = nn.ModuleList(nn.Linear(window, horizon) for _ in range(len(kernels) + 1))

    def parts(self, x):
        rest, out = x + self.back(torch.tanh(self.mix(x))), []
        for smooth in self.smooth:
            slow = smooth(rest)
            out.append(slow)
            rest = rest - slow
        return [*out, rest]

    def note(self, parts):
        for name, part in zip(("trend", "season", "rest"), parts):
            Decomposed.components[name] = part

    def forward(self, x):
        parts = self.parts(x)
        self.note(parts)
        return sum(head(part) for head, part in zip(self.heads, parts))


def explained():
    """How much of the last batch each component carries; for the report."""
    size = {name: float(part.detach().square().mean()) for name, part in Decomposed.components.items()}
    return {name: round(value / sum(size.values()), 3) for name, value in size.items()}
