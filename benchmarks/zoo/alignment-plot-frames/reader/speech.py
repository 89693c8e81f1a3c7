import torch
from torch import nn


class SpeechReader(nn.Module):
    def __init__(self, letters=30, width=64, mel=20):
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.frames = nn.GRU(mel, width, batch_first=True)
        self.speak = nn.Sequential(nn.Linear(2 * width, 128), nn.ReLU(), nn.Linear(128, mel))

    def align(self, letters, mel):
        """Where each frame listens: a row of weights over the letters."""
        queries, _ = self.frames(mel)
        keys = self.letters(letters)
        return (queries @ keys.transpose(1, 2) / 8).softmax(-1), queries, keys

    def forward(self, letters, mel):
        weights, queries, keys = self.align(letters, mel)
        return self.speak(torch.cat([queries, weights @ keys], dim=-1))


class Sentences:
    def __init__(self, seed=4):
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count, length=25, frames=80):
        letters = torch.randint(30, (count, length), generator=self.generator)
        return letters, torch.randn(count, frames, 20, generator=self.generator)
