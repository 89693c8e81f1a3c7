from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Record:
    ground: torch.Tensor
    envelope: torch.Tensor


class Station:
    """Makes up records of a few stations around one vent."""

    def __init__(self, seed, stations=24, samples=240):
        self.gen = torch.Generator().manual_seed(seed)
        self.shape = (stations, samples)
        self.gain = torch.rand(stations, 1, generator=self.gen) + 0.5

    def record(self):
        envelope = F.avg_pool1d(torch.rand(self.shape, generator=self.gen)[None], 9, 1, 4)[0]
        ground = torch.randn(self.shape, generator=self.gen) * envelope * self.gain
        return Record(ground[:, None], envelope)


class EnvelopeNet(nn.Sequential):
    def __init__(self, width=12):
        super().__init__(
            nn.Conv1d(1, width, 9, padding=4),
            nn.Softplus(),
            nn.Conv1d(width, 1, 9, padding=4),
            nn.Flatten(1),
        )
