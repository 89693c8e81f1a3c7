import torch
from torch import nn
from torch.nn import functional


class Writer(nn.Module):
    """A small causal language model with tied embeddings."""

    def __init__(self, vocab=256, width=64, heads=4, depth=2, longest=48):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 2 * width, 0.0, batch_first=True, norm_first=True)
            for _ in range(depth)
        )

    def forward(self, tokens):
        length = tokens.size(1)
        mask = torch.full((length, length), float("-inf")).triu(1)
        hidden = self.words(tokens) + self.places.weight[:length]
        for block in self.blocks:
            hidden = block(hidden, src_mask=mask)
        return hidden @ self.words.weight.T


def token_logprobs(model, tokens, start):
    logits = model(tokens)[:, start - 1 : -1]
    return functional.log_softmax(logits, -1).gather(-1, tokens[:, start:, None]).squeeze(-1)
