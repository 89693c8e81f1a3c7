"""Synthetic radar sequences: rain cells that drift with the wind."""

import torch


class RadarArchive:
    def __init__(self, seed, size=40, past=4):
        self.gen = torch.Generator().manual_seed(seed)
        self.size, self.past = size, past
        axis = torch.linspace(-1, 1, size)
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def draw(self, count):
        start = torch.rand(2, count, 1, 1, generator=self.gen).sub(0.5)
        wind = torch.rand(2, count, 1, 1, generator=self.gen).sub(0.5).mul(0.3)
        frames = []
        for t in range(self.past + 1):
            cy, cx = start + wind * t
            frames.append(torch.exp(-12 * ((self.y - cy).square() + (self.x - cx).square())))
        stack = torch.stack(frames, dim=1)
        return stack[:, : self.past], stack[:, self.past :]
