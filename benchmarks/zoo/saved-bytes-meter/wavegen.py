import torch
from torch import nn


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.filter = nn.Conv1d(width, width, 3, padding=1)
        self.gate = nn.Conv1d(width, width, 3, padding=1)

    def forward(self, x):
        return x + torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))


class WaveModel(nn.Module):
    def __init__(self, width=16, blocks=2):
        super().__init__()
        self.lift = nn.Conv1d(1, width, 1)
        self.blocks = nn.Sequential(*(GatedBlock(width) for _ in range(blocks)))
        self.out = nn.Conv1d(width, 1, 1)

    def forward(self, wave):
        return self.out(self.blocks(self.lift(wave)))


def waves(batch=6, samples=256):
    generator = torch.Generator().manual_seed(11)
    time = torch.arange(samples) / samples
    while True:
        pitch = torch.rand(batch, 1, 1, generator=generator) * 20 + 2
        wave = torch.sin(6.283 * pitch * time)
        yield wave + 0.1 * torch.randn(wave.shape, generator=generator), wave
