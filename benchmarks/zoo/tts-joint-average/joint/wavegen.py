"""Waveform head: upsampling convolutions with gated residuals."""

import torch
from torch import nn


class GatedBlock(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.both = nn.Conv1d(width, 2 * width, 5, dilation=dilation, padding=2 * dilation)

    def forward(self, x):
        value, gate = self.both(x).chunk(2, dim=1)
        return x + torch.tanh(value) * torch.sigmoid(gate)


class WaveHead(nn.Module):
    def __init__(self, mels=32, width=224, hop=32):
        super().__init__()
        self.inp = nn.Conv1d(mels, width, 5, padding=2)
        self.blocks = nn.Sequential(*(GatedBlock(width, 2**n) for n in range(3)))
        self.out = nn.Conv1d(width, hop, 1)

    def forward(self, mel):
        return torch.tanh(self.out(self.blocks(self.inp(mel)))).transpose(1, 2).flatten(1)
