import torch
from torch import nn
from torch.nn import functional


class CausalAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        k, v = (
            (k.contiguous(), v.contiguous())
            if past is None
            else (torch.cat(p, 2) for p in zip(past, (k, v), strict=True))
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        mixed = mixed.transpose(1, 2).reshape(batch, length, dim)
        return self.out(mixed), (k, v)


class Writer(nn.Module):
    def __init__(self, vocab=400, dim=64, heads=4, depth=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(CausalAttention(dim, heads) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(depth))
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens, past=None):
        x, presents = self.embed(tokens), []
        for index, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            mixed, present = layer(norm(x), None if past is None else past[index])
            presents.append(present)
            x = x + mixed
        return self.head(x[:, -1]), tuple(presents)
