import math
from functools import lru_cache

import torch


def frequencies(width, period=365.0):
    return 2 * math.pi / period * torch.arange(1, width // 2 + 1)


@lru_cache(maxsize=None)
def day_encoding(days, width):
    """Sines and cosines of the days of the year on which the images were taken, batch x images x width."""
    angles = torch.tensor(days, dtype=torch.float32)[..., None] * frequencies(width)
    return torch.cat((angles.sin(), angles.cos()), -1)
