from dataclasses import dataclass

import torch
from torch import nn


class Chat(nn.Module):
    def __init__(self, vocab=300, dim=96, depth=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.qkv = nn.ModuleList(nn.Linear(dim, 3 * dim) for _ in range(depth))
        self.out = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens, cache, slot):
        x = self.embed(tokens)
        for layer, (qkv, out) in enumerate(zip(self.qkv, self.out, strict=True)):
            query, key, value = qkv(x).chunk(3, -1)
            keys, values = cache.put(layer, slot, key, value)
            x = x + out((query @ keys.T / x.size(-1) ** 0.5).softmax(-1) @ values)
        cache.advance(slot, len(tokens))
        return self.head(x[-1])


@dataclass
class Request:
    number: int
    prompt: torch.Tensor
    wanted: int


class Server:
    def __init__(self, model, cache, slots):
        self.model, self.cache = model.eval(), cache
        self.free = list(range(slots))

    @torch.inference_mode()
    def answer(self, request):
        slot = self.free.pop()
        try:
            token, reply = self.model(request.prompt, self.cache, slot).argmax().view(1), []
            while len(reply) < request.wanted:
                reply.append(int(token))
                token = self.model(token, self.cache, slot).argmax().view(1)
            return reply
        finally:
            self.cache.release(slot)
            self.free.append(slot)
