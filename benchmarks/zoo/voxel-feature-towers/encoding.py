import torch
from torch import nn


class EncodingModel(nn.Module):
    """Banded ridge: one linear map to voxels, one penalty for each band of features."""

    def __init__(self, bands, voxels):
        super().__init__()
        self.map = nn.Linear(sum(bands.values()), voxels)
        self.bands = bands
        self.penalty = nn.Parameter(torch.zeros(len(bands)))

    def forward(self, features):
        return self.map(features)

    def ridge(self):
        parts = self.map.weight.split(list(self.bands.values()), 1)
        weights = self.penalty.softmax(0)
        return sum(weight * part.square().mean() for weight, part in zip(weights, parts, strict=True))


def correlation(predicted, measured):
    predicted, measured = predicted - predicted.mean(0), measured - measured.mean(0)
    return ((predicted * measured).sum(0) / (predicted.norm(dim=0) * measured.norm(dim=0) + 1e-8)).mean().item()
