import torch
from torch import nn


class PatchEncoder(nn.Module):
    def __init__(self, patch=8, dim=64, depth=2, places=65):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, dim))
        self.places = nn.Parameter(torch.randn(1, places, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)

    def forward(self, images):
        patches = self.patches(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.first.expand(len(images), -1, -1), patches], 1) + self.places
        return self.blocks(tokens)


class Pooling:
    """Picks what stands for the whole image."""

    def __init__(self, place=0):
        self.place = place

    def __call__(self, tokens):
        return tokens[:, self.place]
