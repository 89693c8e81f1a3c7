from collections import OrderedDict

import torch
from saliency import seeded
from torch import nn


def sherd_net(width=24, kinds=7):
    """Pottery by its rim, decoration and temper."""
    return nn.Sequential(
        OrderedDict(
            rim=nn.Conv2d(3, width, 5, 2, 2),
            rim_act=nn.ReLU(),
            decor=nn.Conv2d(width, 2 * width, 3, 2, 1),
            decor_act=nn.ReLU(),
            temper=nn.Conv2d(2 * width, 2 * width, 3, 1, 1),
            temper_act=nn.ReLU(),
            pool=nn.AdaptiveAvgPool2d(1),
            flat=nn.Flatten(),
            kind=nn.Linear(2 * width, kinds),
        )
    )


def sherds(size=16, side=48, kinds=7):
    generator = seeded(43)
    bands = torch.arange(side)[None, :, None] / side
    while True:
        kind = torch.randint(kinds, (size,), generator=generator)
        waves = torch.sin(bands * (kind[:, None, None] + 2) * 6.28)[:, None]
        yield waves + 0.5 * torch.randn(size, 3, side, side, generator=generator), kind
