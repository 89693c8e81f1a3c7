import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=140, width=72):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids, past=None):
        query, key, value = self.qkv(self.embed(ids)).chunk(3, -1)
        if past is not None:
            key, value = torch.cat([past[0], key], 1), torch.cat([past[1], value], 1)
        weights = (query @ key.transpose(1, 2) / key.size(-1) ** 0.5).softmax(-1)
        return self.head(weights @ value), (key, value)


@torch.no_grad()
def stream(decoder, prompt, most=4):
    ids, past = prompt, None
    for _ in range(most):
        logits, past = decoder(ids, past)
        ids = logits[:, -1:].argmax(-1)
        yield ids.tolist()
