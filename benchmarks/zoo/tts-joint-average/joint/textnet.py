"""Text side: characters to mel frames."""

import torch
from torch import nn


class TextNet(nn.Module):
    def __init__(self, chars=48, width=96, mels=32):
        super().__init__()
        self.embed = nn.Embedding(chars, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.mel = nn.Linear(width, mels)

    def forward(self, chars):
        return self.mel(self.encoder(self.embed(chars))).transpose(1, 2)


class ReadSpeech:
    def __init__(self, seed, chars=48, length=64, hop=32):
        self.gen = torch.Generator().manual_seed(seed)
        self.chars, self.length, self.hop = chars, length, hop
        self.mel_of = torch.randn(chars, 32, generator=self.gen)
        self.wave_of = torch.rand(chars, hop, generator=self.gen) - 0.5

    def draw(self, count):
        chars = torch.randint(self.chars, (count, self.length), generator=self.gen)
        return chars, self.mel_of[chars].transpose(1, 2), self.wave_of[chars].flatten(1)
