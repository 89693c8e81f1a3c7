import torch
from torch import nn


class CrossEncoder(nn.Module):
    """Reads a query and a passage together; returns a relevance and the state per token."""

    def __init__(self, vocab=800, dim=64, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.relevance = nn.Linear(dim, 1)

    def forward(self, pairs):
        states = self.encoder(self.embed(pairs))
        return self.relevance(states[:, 0]).squeeze(-1)


def corpus(queries=20, pages=2, passages=24, length=40, seed=21):
    generator = torch.Generator().manual_seed(seed)
    for query in range(queries):
        for _ in range(pages):
            yield query, torch.randint(800, (passages, length), generator=generator)
