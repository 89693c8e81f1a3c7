from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class ModelOutput:
    logits: torch.Tensor
    states: torch.Tensor


class CodeModel(nn.Module):
    def __init__(self, vocab=1200, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gate, self.shift = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        x = self.embed(tokens)
        past = x.cumsum(1) / torch.arange(1, x.size(1) + 1).unsqueeze(1)
        states = torch.sigmoid(self.gate(x)) * torch.tanh(self.shift(past))
        return ModelOutput(self.head(states), states)


class SourceFiles:
    def __init__(self, batch=4, length=96, vocab=1200):
        self.shape, self.vocab = (batch, length), vocab

    def __iter__(self):
        generator = torch.Generator().manual_seed(131)
        while True:
            tokens = torch.randint(self.vocab, self.shape, generator=generator)
            yield tokens, (tokens + 1) % self.vocab
