import torch
from torch import nn
import torch.nn.functional as F


class DensityNet(nn.Sequential):
    def __init__(self, width=10):
        super().__init__(
            nn.Conv2d(1, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, 1, 5, padding=2), nn.Softplus()
        )


class Slides:
    def __init__(self, seed, batch=8, size=64):
        self.gen = torch.Generator().manual_seed(seed)
        self.shape = (batch, 1, size, size)

    def draw(self):
        grains = (torch.rand(self.shape, generator=self.gen) < 0.004).float()
        wanted = F.avg_pool2d(grains, 7, stride=1, padding=3)
        return wanted * 20 + 0.1 * torch.randn(self.shape, generator=self.gen), wanted
