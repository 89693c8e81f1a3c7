import torch
from torch import nn


class VoiceNet(nn.Module):
    def __init__(self, width, phrases=12):
        super().__init__()
        self.first = nn.Linear(80, width)
        self.second = nn.Linear(width, width)
        self.out = nn.Linear(width, phrases)
        self.hint_widths = (width, width)

    def hint_layers(self):
        return self.first, self.second

    def forward(self, mel):
        h = torch.relu(self.second(torch.relu(self.first(mel))))
        return self.out(h.mean(1))


class Aviary:
    def __init__(self, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.phrases = torch.randn(12, 50, 80, generator=self.g)

    def batch(self, n=16):
        y = torch.randint(12, (n,), generator=self.g)
        return self.phrases[y] + 1.5 * torch.randn(n, 50, 80, generator=self.g), y
