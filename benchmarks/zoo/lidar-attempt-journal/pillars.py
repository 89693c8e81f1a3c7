import torch
from attempts import Overfull
from torch import nn


def scans(count, points=6000, seed=19):
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        spread = 1.0 if number % 3 else 0.45
        yield spread * torch.randn(points, 3, generator=generator), torch.tensor(float(number % 3 == 0))


def fill(points, room, side=16, reach=2.0):
    """Pillars of a square grid: up to `room` points each, with an offset from the pillar's middle."""
    cells = ((points[:, :2].clamp(-reach, reach - 1e-4) + reach) / (2 * reach) * side).long()
    pillar = cells[:, 0] * side + cells[:, 1]
    order = pillar.argsort(stable=True)
    points, pillar = points[order], pillar[order]
    counts = torch.bincount(pillar, minlength=side * side)
    if (fullest := int(counts[side + 1 : -side - 1].max())) > room:
        raise Overfull(f"{fullest} points in a pillar with room for {room}")
    place = torch.arange(len(points)) - (counts.cumsum(0) - counts)[pillar]
    keep = place < room
    grid = torch.zeros(side * side, room, 3)
    grid[pillar[keep], place[keep]] = points[keep]
    return grid


class PillarNet(nn.Module):
    def __init__(self, width=24, side=16):
        super().__init__()
        self.side = side
        self.point = nn.Linear(3, width)
        self.scene = nn.Sequential(nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.indoors = nn.Linear(width, 1)

    def forward(self, grid):
        pillars = torch.relu(self.point(grid)).amax(1)
        image = pillars.T.reshape(1, -1, self.side, self.side)
        return self.indoors(self.scene(image)).view(())
