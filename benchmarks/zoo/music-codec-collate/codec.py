import torch
from torch import nn


class TuneCodec(nn.Module):
    """Waves to discrete tokens: strided convolutions and the nearest entry of a codebook."""

    def __init__(self, width=160, entries=256, code=48):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, width // 2, 16, 8),
            nn.ELU(),
            nn.Conv1d(width // 2, width, 8, 4),
            nn.ELU(),
            nn.Conv1d(width, width, 8, 4),
        )
        self.project = nn.Conv1d(width, code, 1)
        self.codebook = nn.Parameter(torch.randn(entries, code) / 4)

    @torch.no_grad()
    def forward(self, waves):
        codes = self.project(self.layers(waves[:, None])).transpose(1, 2)
        return torch.cdist(codes, self.codebook.expand(codes.size(0), -1, -1)).argmin(-1)
