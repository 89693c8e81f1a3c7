import torch
from torch import nn


class SentencePair(nn.Module):
    """A frozen sentence encoder under a small trained comparison."""

    def __init__(self, vocab=2000, width=192):
        super().__init__()
        self.encoder = nn.ModuleDict({"tokens": nn.EmbeddingBag(vocab, width), "mix": nn.Linear(width, width)})
        self.encoder.requires_grad_(False)
        self.compare = nn.Sequential(nn.Linear(3 * width, 64), nn.ReLU(), nn.Linear(64, 2))

    def encode(self, ids):
        return torch.tanh(self.encoder["mix"](self.encoder["tokens"](ids)))

    def forward(self, left, right):
        a, b = self.encode(left), self.encode(right)
        return self.compare(torch.cat([a, b, (a - b).abs()], -1))
