import torch
from torch import nn


def casts(count=12, per_cast=40, levels=60, seed=61):
    """Temperature and salinity over depth, one ship's cast after another; the last one was cut short."""
    generator = torch.Generator().manual_seed(seed)
    depth = torch.linspace(0, 1, levels)
    made = []
    for number in range(count):
        mixed = 0.1 + 0.4 * torch.rand(per_cast, 1, generator=generator)
        heat = 4 + 18 / (1 + ((depth - mixed) * 25).exp())
        salt = 35 + 0.5 * torch.randn(per_cast, levels, generator=generator)
        rows = torch.cat([heat + 0.2 * torch.randn(per_cast, levels, generator=generator), salt - 35], 1)
        made.append((rows[:, : 2 * levels - 7] if number == count - 1 else rows, mixed))
    return made


def profiler(width=640, inputs=120):
    layers = [nn.Linear(inputs, width), nn.SiLU()]
    for _ in range(2):
        layers += [nn.Linear(width, width), nn.SiLU()]
    return nn.Sequential(*layers, nn.Linear(width, 1))
