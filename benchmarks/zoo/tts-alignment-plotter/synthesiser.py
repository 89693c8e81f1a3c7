import torch
from torch import nn


class LocationAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query, self.key = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, frames, text):
        energy = self.query(frames) @ self.key(text).transpose(1, 2)
        alignment = torch.softmax(energy / frames.size(-1) ** 0.5, -1)
        return alignment @ text, alignment


class Synthesiser(nn.Module):
    def __init__(self, phones=60, dim=48, mels=20):
        super().__init__()
        self.phones = nn.Embedding(phones, dim)
        self.encoder = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)
        self.prenet = nn.Sequential(nn.Linear(mels, dim), nn.ReLU())
        self.attention = LocationAttention(dim)
        self.frames = nn.Linear(2 * dim, mels)

    def forward(self, text, mels):
        encoded, _ = self.encoder(self.phones(text))
        inputs = self.prenet(nn.functional.pad(mels[:, :-1], (0, 0, 1, 0)))
        context, alignment = self.attention(inputs, encoded)
        return self.frames(torch.cat([inputs, context], -1)), alignment


def utterances(count, batch=6, phones=30, frames=80, mels=20):
    generator = torch.Generator().manual_seed(41)
    for _ in range(count):
        text = torch.randint(60, (batch, phones), generator=generator)
        yield text, torch.randn(batch, frames, mels, generator=generator).cumsum(1).mul_(0.1)
