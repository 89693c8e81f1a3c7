import torch
from torch import nn


class TariffNet(nn.Module):
    """Claims frequency from hashed policy codes and pairwise crosses of the dense columns."""

    def __init__(self, codes=56_000, width=96, crosses=1024):
        super().__init__()
        self.codes = nn.EmbeddingBag(codes, width, mode="mean")
        self.crosses = nn.Linear(crosses, 48)
        self.top = nn.Sequential(nn.Linear(width + 48, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, codes, crossed):
        return self.top(torch.cat([self.codes(codes), self.crosses(crossed)], 1)).squeeze(1)


def cross(dense):
    # all products of two columns, standardised within the batch
    n = dense.shape[0]
    out = torch.bmm(dense[:, :, None], dense[:, None, :]).view(n, -1)
    return (out - out.mean(0)) / (out.std(0) + 1e-4)
