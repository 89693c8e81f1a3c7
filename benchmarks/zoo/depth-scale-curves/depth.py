import torch
from torch import nn
from torch.nn import functional as F


class DepthNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encode = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.decode = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, images):
        x = torch.relu(self.middle(torch.relu(self.encode(images))))
        return F.pixel_shuffle(self.decode(x), 2)


class DepthTerms:
    """Loss at full and at half size, and for the borders between near and far."""

    def __init__(self, half=0.5, border=0.2):
        self.weights = {"full": 1.0, "half": half, "border": border}

    def __call__(self, guess, depth):
        return {
            "full": F.mse_loss(guess, depth),
            "half": F.mse_loss(F.avg_pool2d(guess, 2), F.avg_pool2d(depth, 2)),
            "border": F.l1_loss(guess.diff(dim=-1), depth.diff(dim=-1)),
        }

    def total(self, terms):
        return sum(self.weights[name] * value for name, value in terms.items())


def rooms(batch=4, size=64, seed=50):
    generator = torch.Generator().manual_seed(seed)
    ramp = torch.linspace(0, 1, size)
    while True:
        tilt = torch.rand(batch, 2, 1, 1, generator=generator)
        depth = tilt[:, :1] * ramp[:, None] + tilt[:, 1:] * ramp[None, :]
        shade = 1 - depth + 0.05 * torch.randn(batch, 3, size, size, generator=generator)
        yield shade, depth
