import torch
from torch.nn import functional


class Orbit:
    """Scenes with four bands of 16-bit counts and a mask of clouds."""

    def __init__(self, side=240, seed=77):
        self.side = side
        self.generator = torch.Generator().manual_seed(seed)

    def scene(self):
        rough = torch.randn(1, 1, 9, 9, generator=self.generator)
        cloud = functional.interpolate(rough, size=(self.side, self.side), mode="bicubic")[0, 0] > 0.6
        ground = torch.rand(4, self.side, self.side, generator=self.generator) * 3000
        return (ground + cloud * 5000).to(torch.int16), cloud

    def scenes(self, count):
        for _ in range(count):
            yield self.scene()
