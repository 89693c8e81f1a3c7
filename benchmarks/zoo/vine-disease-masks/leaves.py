import torch
from torch import nn

DISEASES = ("mildew", "black rot", "esca", "leaf roll", "healthy")


class LeafNet(nn.Module):
    def __init__(self, bands=120, width=160):
        super().__init__()
        self.spectral = nn.Linear(bands, width)
        self.hidden = nn.Linear(width, width)
        self.verdict = nn.Linear(width, len(DISEASES))

    def forward(self, reflectance):
        x = torch.relu(self.spectral(reflectance))
        return self.verdict(torch.relu(self.hidden(x)))


def vineyard(rows, leaves=64, bands=120):
    """Reflectance spectra: each disease darkens other bands."""
    g = torch.Generator().manual_seed(231)
    signatures = torch.randn(len(DISEASES), bands, generator=g)
    for _ in range(rows):
        disease = torch.randint(len(DISEASES), (leaves,), generator=g)
        yield signatures[disease] + 2.0 * torch.randn(leaves, bands, generator=g), disease
