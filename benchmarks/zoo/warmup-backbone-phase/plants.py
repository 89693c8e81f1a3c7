import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.deep = nn.Conv2d(width, 4 * width, 3, stride=2, padding=1)
        self.deeper = nn.Conv2d(4 * width, 2 * width, 3, stride=2, padding=1)

    def forward(self, images):
        x = torch.relu(self.deep(torch.relu(self.stem(images))))
        return self.deeper(x).mean((2, 3))


class PlantModel(nn.Module):
    def __init__(self, kinds=6):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Sequential(nn.LayerNorm(96), nn.Linear(96, 64), nn.GELU(), nn.Linear(64, kinds))

    def forward(self, images):
        return self.head(self.backbone(images))


def photos(batch=4, kinds=6, seed=40):
    generator = torch.Generator().manual_seed(seed)
    while True:
        labels = torch.randint(kinds, (batch,), generator=generator)
        images = torch.rand(batch, 3, 32, 32, generator=generator) * 0.3
        images[:, 1] += labels.view(-1, 1, 1) / kinds
        yield images, labels
