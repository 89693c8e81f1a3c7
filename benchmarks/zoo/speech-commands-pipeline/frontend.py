import torch
from torch import nn
from torch.nn import functional


class LogMel(nn.Module):
    """Windowed cosines of a few pitches as filters; nothing to learn here."""

    def __init__(self, window=256, hop=256, bands=32):
        super().__init__()
        self.hop = hop
        phase = torch.arange(window) * torch.linspace(0.05, 2.5, bands)[:, None]
        self.register_buffer("filters", (phase.cos() * torch.hann_window(window))[:, None])

    @torch.no_grad()
    def forward(self, waves):
        return functional.conv1d(waves[:, None], self.filters, stride=self.hop).square().clamp_min(1e-6).log()


class CommandNet(nn.Module):
    def __init__(self, bands=32, commands=10, width=160):
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv1d(i, width, 3, padding=1) for i in (bands, width, width))
        self.head = nn.Linear(width, commands)

    def forward(self, hidden):
        for convolution in self.convolutions:
            hidden = functional.gelu(convolution(hidden))
        return self.head(hidden.mean(-1))


def recordings(batch=16, length=16000, seed=5):
    generator = torch.Generator().manual_seed(seed)
    tones = torch.sin(torch.arange(length) * torch.linspace(0.08, 0.6, 10)[:, None])
    while True:
        labels = torch.randint(10, (batch,), generator=generator)
        yield {"waves": torch.randn(batch, length, generator=generator).add_(tones[labels]), "labels": labels}
