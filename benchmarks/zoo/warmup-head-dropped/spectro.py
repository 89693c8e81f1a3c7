import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, bands=96, width=128):
        super().__init__()
        self.gru = nn.GRU(bands, width, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.gru(x)[0]


class PretextHead(nn.Module):
    """Guesses the codebook entry of each masked frame."""

    def __init__(self, width=256, codes=6000):
        super().__init__()
        self.mask = nn.Parameter(torch.zeros(96))
        self.project = nn.Linear(width, codes)

    def forward(self, encoder, x, hidden):
        x = torch.where(hidden[..., None], self.mask, x)
        return self.project(encoder(x)[hidden])


class CallHead(nn.Module):
    def __init__(self, width=256, calls=8):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, calls)

    def forward(self, encoder, x):
        return self.out(self.norm(encoder(x).mean(1)))


class Recordings:
    def __init__(self, seed=0, bands=96, frames=24):
        self.g = torch.Generator().manual_seed(seed)
        self.shape = (frames, bands)
        self.book = torch.randn(6000, bands, generator=self.g)
        self.voices = torch.randn(8, frames, bands, generator=self.g)

    def unlabelled(self, n=8):
        codes = torch.randint(6000, (n, self.shape[0]), generator=self.g)
        hidden = torch.rand(n, self.shape[0], generator=self.g) < 0.3
        return self.book[codes], codes, hidden

    def labelled(self, n=16):
        y = torch.randint(8, (n,), generator=self.g)
        return self.voices[y] + 1.2 * torch.randn(n, *self.shape, generator=self.g), y
