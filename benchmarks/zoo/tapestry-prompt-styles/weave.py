import torch
from torch import nn


class PatternDecoder(nn.Module):
    """A grid of thread colours from encoded text."""

    def __init__(self, dim=256, threads=16, colours=24):
        super().__init__()
        self.places = nn.Parameter(0.1 * torch.randn(threads * threads, dim))
        self.attention = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.colour = nn.Linear(dim, colours)

    def forward(self, text):
        places = self.places.expand(len(text), -1, -1)
        mixed, _ = self.attention(places, text, text, need_weights=False)
        return self.colour(places + mixed)


class Loom:
    def __init__(self, conditioner, decoder):
        self.conditioner = conditioner
        self.decoder = decoder
        self.optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-3)

    def train_on(self, prompts, threads):
        logits = self.decoder(self.conditioner(prompts))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), threads.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
