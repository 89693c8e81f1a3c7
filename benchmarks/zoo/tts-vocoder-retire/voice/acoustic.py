"""Phonemes to mel frames."""

import torch
from torch import nn


class AcousticModel(nn.Module):
    def __init__(self, phonemes=60, width=96, mels=40, repeat=3):
        super().__init__()
        self.repeat = repeat
        self.embed = nn.Embedding(phonemes, width)
        self.encoder = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.Sequential(
            nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.Conv1d(width, mels, 5, padding=2)
        )
        self.level = nn.Parameter(torch.zeros(mels, 1))

    def forward(self, phonemes):
        states, _ = self.encoder(self.embed(phonemes))
        frames = states.repeat_interleave(self.repeat, dim=1).transpose(1, 2)
        return self.decoder(frames) + self.level


class Utterances:
    def __init__(self, seed, phonemes=60, length=40):
        self.gen = torch.Generator().manual_seed(seed)
        self.length = length
        self.phonemes = phonemes
        self.voice = torch.randn(phonemes, 40, generator=self.gen)

    def draw(self, count):
        ids = torch.randint(self.phonemes, (count, self.length), generator=self.gen)
        return ids, self.voice[ids].repeat_interleave(3, dim=1).transpose(1, 2)
