"""Synthetic scans: nested shells of tissue around a moving centre."""

import torch


class ScanSource:
    def __init__(self, seed, size=24, organs=4):
        self.gen = torch.Generator().manual_seed(seed)
        self.organs = organs
        axis = torch.linspace(-1, 1, size)
        self.grid = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"))

    def draw(self, count):
        centre = torch.rand(count, 3, 1, 1, 1, generator=self.gen).sub(0.5)
        radius = (self.grid - centre).square().sum(1).sqrt()
        mask = (radius * self.organs / 1.5).long().clamp(max=self.organs - 1)
        noise = torch.randn(mask.shape, generator=self.gen)
        return (mask.float() + 0.3 * noise).unsqueeze(1), mask
