import torch
from torch.nn import functional


class Survey:
    """Multibeam swaths: two channels of backscatter and the depth of a coarser grid."""

    def __init__(self, swaths, batch=8, size=80, seed=93):
        self.swaths, self.batch, self.size, self.seed = swaths, batch, size, seed

    def swath(self, generator):
        relief = torch.randn(self.batch, 1, 6, 6, generator=generator)
        depth = functional.interpolate(relief, size=(self.size, self.size), mode="bicubic", align_corners=True)
        slope = torch.diff(depth, dim=-1, append=depth[..., -1:])
        noise = 0.2 * torch.randn(self.batch, 2, self.size, self.size, generator=generator)
        return torch.cat([depth.tanh(), slope * 5], 1) + noise, functional.avg_pool2d(depth, 2)

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        for _ in range(self.swaths):
            yield self.swath(generator)
