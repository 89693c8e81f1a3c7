import torch
from torch import nn


class Wide(nn.Module):
    """The teacher: came trained, runs in evaluation mode."""

    def __init__(self, bands=40, words=12, width=96):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(bands, width, 7, stride=2, padding=3),
            nn.BatchNorm1d(width),
            nn.GELU(),
            nn.Conv1d(width, width, 7, stride=2, padding=3),
            nn.GELU(),
        )
        self.words = nn.Linear(width, words)

    def forward(self, clips):
        return self.words(self.body(clips).mean(-1))


class Narrow(nn.Module):
    def __init__(self, bands=40, words=12, width=16):
        super().__init__()
        self.cell = nn.Conv1d(bands, width, 9, stride=4)
        self.words = nn.Linear(width, words)

    def forward(self, clips):
        return self.words(torch.relu(self.cell(clips)).amax(-1))
