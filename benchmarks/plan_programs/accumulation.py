"""Gradients of four small batches are added up before each step; MLP-Mixer, RMSprop."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ACCUMULATE = 4


class MixerBlock(nn.Module):
    def __init__(self, patches, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(patches, 256), nn.GELU(), nn.Linear(256, patches))
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, patches=64, width=512, layers=6, classes=100):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 8, stride=8)
        self.blocks = nn.Sequential(*(MixerBlock(patches, width) for _ in range(layers)))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(1))


def batches():
    while True:
        yield torch.randn(8, 3, 64, 64), torch.randint(100, (8,))


model = Mixer().to(device)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, momentum=0.9)
optimizer.zero_grad()
total = 0.0
for number, (x, y) in enumerate(batches(), 1):
    loss = F.cross_entropy(model(x.to(device)), y.to(device)) / ACCUMULATE
    loss.backward()
    total += loss.detach()
    if number % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
        total = 0.0
    if number == 10 * ACCUMULATE:
        break
