import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, vocab=200, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.GRU(dim, dim, batch_first=True)
        self.combine = nn.Linear(2 * dim, vocab)

    def forward(self, source, target):
        memory, last = self.encoder(self.embed(source))
        states, _ = self.decoder(self.embed(target), last)
        weights = torch.softmax(states @ memory.transpose(1, 2), -1)
        spread = -(weights * weights.clamp_min(1e-6).log()).sum(-1).mean()
        return self.combine(torch.cat([states, weights @ memory], -1)), spread


def sentence_pairs(count, batch=8, length=24, vocab=200):
    generator = torch.Generator().manual_seed(61)
    for _ in range(count):
        source = torch.randint(vocab, (batch, length), generator=generator)
        yield {"source": source, "target": source.flip(1)}
