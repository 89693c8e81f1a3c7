import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=2, groups=dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        mixed = self.mix(self.norm(x).transpose(1, 2))[..., : x.size(1)].transpose(1, 2)
        return x + self.mlp(mixed)


class Decoder(nn.Module):
    def __init__(self, vocab=2000, dim=32, depth=2):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Block(dim) for _ in range(depth))
        self.output = nn.Linear(dim, vocab, bias=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers:
            h = layer(h)
        return self.output(h)


def packed_documents(batch, length, vocab=2000, seed=11):
    generator = torch.Generator().manual_seed(seed)
    while True:
        block = torch.randint(vocab, (batch, length + 1), generator=generator)
        yield block[:, :-1].contiguous(), block[:, 1:].contiguous()
