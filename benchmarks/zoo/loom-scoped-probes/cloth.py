import torch
from torch import nn


class DefectNet(nn.Module):
    """Missing threads and knots in woven cloth, from rows of brightness."""

    def __init__(self, threads=128, width=224, defects=7):
        super().__init__()
        self.warp = nn.Linear(threads, width)
        self.weft = nn.Linear(width, width)
        self.verdict = nn.Linear(width, defects)

    def forward(self, rows):
        return self.verdict(torch.relu(self.weft(torch.relu(self.warp(rows)))))


def bolt(count, batch=72, threads=128, defects=7, seed=301):
    g = torch.Generator().manual_seed(seed)
    flaws = torch.randn(defects, threads, generator=g)
    for _ in range(count):
        kind = torch.randint(defects, (batch,), generator=g)
        yield flaws[kind] + 1.5 * torch.randn(batch, threads, generator=g), kind
