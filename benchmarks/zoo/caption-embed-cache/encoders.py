import torch
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, width, vocab=1000):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.layer = nn.Linear(width, width)

    def forward(self, ids):
        return torch.tanh(self.layer(self.tokens(ids))).mean(1)


def load_text_encoders():
    return [TextEncoder(width).eval().requires_grad_(False) for width in (192, 320)]


def tokenize(caption, length=10):
    codes = [(ord(a) * 31 + ord(b)) % 1000 for a, b in zip(caption, caption[1:])]
    return torch.tensor([(codes * length)[:length]])
