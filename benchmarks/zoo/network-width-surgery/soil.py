import torch
from torch import nn


class SoilMoisture(nn.Module):
    """Moisture at six depths from radar backscatter and weather."""

    def __init__(self, inputs=192, width=256, depths=6):
        super().__init__()
        self.norm = nn.BatchNorm1d(inputs)
        self.expand = nn.Linear(inputs, width)
        self.reduce = nn.Linear(width, inputs)
        self.depths = nn.Linear(inputs, depths)

    def forward(self, readings):
        normal = self.norm(readings)
        return self.depths(normal + self.reduce(torch.relu(self.expand(normal))))


def passes(count, batch=64, inputs=192, seed=251):
    g = torch.Generator().manual_seed(seed)
    mixing = torch.randn(inputs, 6, generator=g) / inputs**0.5
    for _ in range(count):
        readings = torch.randn(batch, inputs, generator=g)
        yield readings, torch.sigmoid(readings @ mixing) + 0.02 * torch.randn(batch, 6, generator=g)
