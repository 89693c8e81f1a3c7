"""Mel to waveform generator in the manner of HiFi-GAN."""

import torch
from torch import nn
import torch.nn.functional as F


class ResStack(nn.Module):
    def __init__(self, width, dilations=(1, 3)):
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv1d(width, width, 7, dilation=d, padding=3 * d) for d in dilations
        )

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


class Vocoder(nn.Module):
    def __init__(self, mels=40, width=256, rates=(8, 8)):
        super().__init__()
        self.pre = nn.Conv1d(mels, width, 7, padding=3)
        self.ups = nn.ModuleList()
        self.stacks = nn.ModuleList()
        for rate in rates:
            self.ups.append(nn.ConvTranspose1d(width, width // 2, 2 * rate, stride=rate, padding=rate // 2))
            width //= 2
            self.stacks.append(ResStack(width))
        self.post = nn.Conv1d(width, 1, 7, padding=3)

    def forward(self, mel):
        x = self.pre(mel)
        for up, stack in zip(self.ups, self.stacks):
            x = stack(up(F.leaky_relu(x, 0.1)))
        return torch.tanh(self.post(x)).squeeze(1)
