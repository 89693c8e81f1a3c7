import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=120, width=64):
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


def stream(decoder, prompt, most=12):
    """Yields one token after another, keeping the keys and values of all before."""
    ids, past = prompt, None
    for _ in range(most):
        with torch.no_grad():
            logits, past = decoder(ids, past)
        ids = logits[:, -1:].argmax(-1)
        yield ids.tolist()
