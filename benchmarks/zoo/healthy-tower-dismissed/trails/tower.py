from functools import partial

import torch
from torch import nn


class TextTower(nn.Module):
    def __init__(self, words=900, width=700, out=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.project = nn.Linear(width, out)

    def forward(self, tokens):
        return self.project(self.words(tokens).mean(1))


def note(calls, module, given, answer):
    calls.append(tuple(answer.shape))


class Embedder:
    def __init__(self, tower):
        self.tower = tower
        self.calls = []
        self.handle = tower.register_forward_hook(partial(note, self.calls))

    @torch.no_grad()
    def __call__(self, tokens):
        return self.tower(tokens)

    def close(self):
        self.handle.remove()
        self.tower = None
