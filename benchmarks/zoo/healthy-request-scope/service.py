from collections import Counter
from contextlib import contextmanager

import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, vocab=180, width=80):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.read = nn.GRU(width, width, batch_first=True)
        self.write = nn.GRUCell(width, width)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens, longest):
        state = self.read(self.embed(tokens))[1][0]
        word, said = tokens[:, -1], []
        for _ in range(longest):
            state = self.write(self.embed(word), state)
            word = self.out(state).argmax(-1)
            said.append(word)
        return torch.stack(said, 1)


class Service:
    def __init__(self, model):
        self.model = model
        self.lengths = Counter()
        self.open = {}

    @contextmanager
    def request(self, ident, tokens):
        self.open[ident] = tokens
        try:
            with torch.no_grad():
                yield self
        finally:
            del self.open[ident]

    def answer(self, ident):
        tokens = self.open[ident]
        self.lengths[tokens.size(1) // 10] += 1
        return self.model(tokens, longest=8).tolist()
