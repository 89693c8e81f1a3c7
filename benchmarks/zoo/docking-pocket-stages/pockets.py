import torch
from torch import nn


class VoxelEncoder(nn.Module):
    """A protein's pocket as a grid of atom densities, pressed into one vector."""

    def __init__(self, kinds=5, width=32, out=48):
        super().__init__()
        channels = [kinds, width, 2 * width, 4 * width]
        self.blocks = nn.Sequential(
            *(
                nn.Sequential(nn.Conv3d(before, after, 3, 2, 1), nn.GELU())
                for before, after in zip(channels, channels[1:])
            )
        )
        self.out = nn.Linear(4 * width * 8, out)

    def forward(self, grids):
        return self.out(self.blocks(grids).flatten(1))


class PocketJob:
    def __init__(self, encoder, proteins=48, chunk=6):
        self.encoder = encoder.eval()
        self.proteins, self.chunk = proteins, chunk

    def grids(self, first):
        generator = torch.Generator().manual_seed(first)
        return torch.rand(self.chunk, 5, 12, 12, 12, generator=generator).pow_(6)

    @torch.inference_mode()
    def embed(self):
        rows = torch.empty(self.proteins, self.encoder.out.out_features)
        for first in range(0, self.proteins, self.chunk):
            rows[first : first + self.chunk] = self.encoder(self.grids(first))
        return rows
