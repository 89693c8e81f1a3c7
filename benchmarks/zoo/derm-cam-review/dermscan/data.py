"""Synthetic dermoscopy crops with a class-dependent blob."""

import torch


class CropSource:
    def __init__(self, seed, size=112, classes=7):
        self.gen = torch.Generator().manual_seed(seed)
        self.size = size
        self.classes = classes
        axis = torch.linspace(-1, 1, size)
        self.grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"))

    def draw(self, count):
        labels = torch.randint(self.classes, (count,), generator=self.gen)
        centre = torch.rand(count, 2, 1, 1, generator=self.gen) - 0.5
        radius = 0.1 + 0.08 * labels.float().view(-1, 1, 1)
        distance = (self.grid.unsqueeze(0) - centre).pow(2).sum(1)
        blob = torch.exp(-distance / radius.pow(2))
        noise = torch.randn(count, 3, self.size, self.size, generator=self.gen) * 0.2
        return noise.add_(blob.unsqueeze(1)), labels
