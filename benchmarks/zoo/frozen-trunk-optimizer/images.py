import torch
from torch import nn


def trunk(pixels=432, width=256):
    layers = [nn.Linear(pixels, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 64)]
    return nn.Sequential(*layers, nn.LayerNorm(64))


def leaves(count=400, pixels=432, kinds=8):
    generator = torch.Generator().manual_seed(55)
    kind = torch.randint(kinds, (count,), generator=generator)
    looks = torch.randn(kinds, pixels, generator=generator)
    return looks[kind] + 1.5 * torch.randn(count, pixels, generator=generator), kind


def batches(x, y, count, size=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        rows = torch.randint(len(x), (size,), generator=generator)
        yield x[rows], y[rows]
