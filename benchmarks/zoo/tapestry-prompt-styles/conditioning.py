"""Text conditioning by a frozen encoder."""

import torch
from prompts import tokenize
from torch import nn


class TextEncoder(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.tokens = nn.Embedding(65, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
        self.requires_grad_(False).eval()

    def forward(self, codes):
        return self.layer(self.tokens(codes))


class Conditioner:
    """Encodes each prompt once; the encoder is by far the dearest part of a step."""

    def __init__(self, encoder):
        self.encoder = encoder
        self.encoded = {}

    @torch.no_grad()
    def encode(self, prompts):
        codes = torch.tensor([tokenize(prompt) for prompt in prompts])
        return dict(zip(prompts, self.encoder(codes)))

    def __call__(self, prompts):
        if new := [prompt for prompt in prompts if prompt not in self.encoded]:
            self.encoded |= self.encode(new)
        return torch.stack([self.encoded[prompt] for prompt in prompts])
