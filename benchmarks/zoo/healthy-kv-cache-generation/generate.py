import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.out(y.transpose(1, 2).reshape(b, t, c)), (k, v)


class Decoder(nn.Module):
    def __init__(self, vocab=400, dim=96, layers=2):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(CachedAttention(dim) for _ in range(layers))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, cache=None):
        x, new_cache = self.wte(ids), []
        for number, layer in enumerate(self.layers):
            y, kv = layer(x, cache[number] if cache else None)
            x = x + y
            new_cache.append(kv)
        return self.head(x[:, -1]), new_cache


@torch.inference_mode()
def generate(model, prompt, max_new_tokens=24, window=40):
    logits, cache = model(prompt)
    tokens = [prompt]
    for _ in range(max_new_tokens):
        token = torch.multinomial(logits.softmax(-1), 1)
        tokens.append(token)
        cache = [(k[:, :, -window:], v[:, :, -window:]) for k, v in cache]
        logits, cache = model(token, cache)
    return torch.cat(tokens, 1)
