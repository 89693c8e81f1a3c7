import gc

import torch
from torch import nn


class TextTower(nn.Module):
    def __init__(self, vocab=24_000, width=160, layers=2):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, ids):
        return self.blocks(self.token(ids)).mean(1)


@torch.no_grad()
def encode(tower, ids):
    return tower(ids)


class Conditioner:
    """Owns the text tower until every prompt of the album is encoded."""

    def __init__(self):
        self.tower = TextTower().eval().requires_grad_(False)
        self.cache = {}

    def prepare(self, prompts):
        for name, ids in prompts.items():
            self.cache[name] = encode(self.tower, ids[None])[0]

    def release(self):
        self.tower = None
        gc.collect()

    def lookup(self, names):
        return torch.stack([self.cache[name] for name in names])
