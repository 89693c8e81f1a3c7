from typing import NamedTuple

import torch
from torch import nn


class Encoded(NamedTuple):
    latents: torch.Tensor
    log_volume: torch.Tensor
    log_scales: list


class Coupling(nn.Module):
    def __init__(self, dim, width, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, width), nn.SiLU(), nn.Linear(width, dim))

    def forward(self, x):
        kept, changed = x.chunk(2, -1)[:: -1 if self.flip else 1]
        shift, log_scale = self.net(kept).chunk(2, -1)
        log_scale = torch.tanh(log_scale)
        changed = changed * log_scale.exp() + shift
        return torch.cat((changed, kept) if self.flip else (kept, changed), -1), log_scale


class Flow(nn.Module):
    def __init__(self, dim=64, width=96, depth=4):
        super().__init__()
        self.couplings = nn.ModuleList(Coupling(dim, width, index % 2 == 1) for index in range(depth))

    def forward(self, x):
        scales = []
        for coupling in self.couplings:
            x, log_scale = coupling(x)
            scales.append(log_scale)
        return Encoded(x, sum(scale.sum(-1) for scale in scales), scales)


def negative_log_likelihood(encoded):
    return (0.5 * encoded.latents.square().sum(-1) - encoded.log_volume).mean() / encoded.latents.size(-1)
