from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Encoded:
    levels: list
    mean: torch.Tensor
    logvar: torch.Tensor

    def sample(self):
        return self.mean + torch.exp(0.5 * self.logvar) * torch.randn_like(self.mean)


class Encoder(nn.Module):
    def __init__(self, widths=(24, 32, 48)):
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Conv2d(inside, outside, 3, 2, 1) for inside, outside in zip((1, *widths), widths)
        )
        self.moments = nn.Conv2d(widths[-1], 32, 1)

    def forward(self, x):
        levels = []
        for stage in self.stages:
            x = functional.gelu(stage(x))
            levels.append(x)
        return Encoded(levels, *self.moments(x).chunk(2, 1))


class Decoder(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(16, 32, 3, padding=1),
            nn.GELU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(32, 24, 3, padding=1),
            nn.GELU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(24, 12, 3, padding=1),
            nn.GELU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(12, 1, 3, padding=1),
        )


class Confidence(nn.Module):
    """How far a micrograph is from what the encoder knows, out of each level's energy."""

    def __init__(self, levels=3):
        super().__init__()
        self.weigh = nn.Linear(levels, 1)

    def forward(self, levels):
        energy = torch.stack([level.square().mean((1, 2, 3)) for level in levels], 1)
        return torch.sigmoid(self.weigh(energy)).squeeze(1)


class Sharpener(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()
        self.confidence = Confidence()

    def forward(self, micrographs):
        encoded = self.encoder(micrographs)
        confidence = self.confidence(encoded.levels)
        return self.decoder(encoded.sample()), confidence
