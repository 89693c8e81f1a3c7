from collections import OrderedDict

import torch
from hints import HintedDistiller
from torch import nn


def leaf_net(width):
    return nn.Sequential(
        OrderedDict(
            low=nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU()),
            high=nn.Sequential(nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU()),
            pool=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
            sort=nn.Linear(2 * width, 6),
        )
    )


def leaves(batch=12, size=40):
    generator = torch.Generator().manual_seed(26)
    while True:
        images = torch.rand(batch, 3, size, size, generator=generator)
        yield images, (images.mean((1, 2, 3)) * 400).long() % 6


def main(steps=40):
    torch.manual_seed(25)
    distiller = HintedDistiller(leaf_net(12), leaf_net(40), ["low", "high"])
    source = leaves()
    for step in range(steps):
        loss = distiller.step(*next(source))
        if step % 8 == 0:
            print(f"{step:2d} {loss:.4f}")


if __name__ == "__main__":
    main()
