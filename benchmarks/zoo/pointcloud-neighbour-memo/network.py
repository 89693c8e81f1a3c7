import torch
from torch import nn


class EdgeConv(nn.Module):
    def __init__(self, inputs, outputs, index):
        super().__init__()
        self.index = index
        self.mlp = nn.Sequential(nn.Linear(2 * inputs, outputs), nn.ReLU())

    def forward(self, features, points):
        nearest = self.index(points)
        rows = torch.arange(points.size(0)).view(-1, 1, 1)
        around = features[rows, nearest]
        centre = features.unsqueeze(2).expand_as(around)
        return self.mlp(torch.cat([centre, around - centre], -1)).amax(2)


class CloudClassifier(nn.Module):
    def __init__(self, index, classes=5, width=16):
        super().__init__()
        self.first = EdgeConv(3, width, index)
        self.second = EdgeConv(width, width, index)
        self.head = nn.Linear(width, classes)

    def forward(self, points):
        x = self.first(points, points)
        x = self.second(x, points)
        return self.head(x.mean(1))


def clouds(batch=4, size=160, classes=5, seed=8):
    generator = torch.Generator().manual_seed(seed)
    while True:
        kinds = torch.randint(classes, (batch,), generator=generator)
        points = torch.randn(batch, size, 3, generator=generator)
        yield points * (1 + kinds.view(-1, 1, 1) * torch.tensor([0.3, 0.1, 0.0])), kinds
