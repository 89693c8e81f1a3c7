import torch
from torch import nn
from torch.nn import functional as F

FAULTS = 128


class RailNet(nn.Module):
    """Fault codes from axle-box accelerations."""

    def __init__(self, channels=8, window=64, width=96):
        super().__init__()
        self.conv = nn.Conv1d(channels, width, 7, padding=3)
        self.rest = nn.Sequential(nn.ReLU(), nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(4 * width, FAULTS))

    def forward(self, signal):
        return self.rest(self.conv(signal))


class Section:
    """A stretch of track with recordings of faults."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.shapes = torch.randn(FAULTS, 8, 64, generator=torch.Generator().manual_seed(141))

    def __iter__(self):
        while True:
            codes = torch.randint(FAULTS, (48,), generator=self.g)
            yield self.shapes[codes] + 0.7 * torch.randn(48, 8, 64, generator=self.g), codes


def fit(network, optimizer, signal, codes, meter):
    optimizer.zero_grad()
    logits = network(signal)
    loss = F.cross_entropy(logits, codes, label_smoothing=0.05)
    loss.backward()
    optimizer.step()
    meter.add(logits.detach().argmax(-1), codes)
    return loss.item()
