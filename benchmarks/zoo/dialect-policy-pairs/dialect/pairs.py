"""Pairs of a liked and a disliked answer."""

import torch


class PairFeed:
    def __init__(self, vocabulary=1536, seed=0):
        self.vocabulary = vocabulary
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count=8, length=40):
        return torch.randint(self.vocabulary, (2 * count, length), generator=self.generator)


def log_probability(logits, tokens):
    """Of each row's tokens after the first."""
    chosen = logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None])
    return chosen.squeeze(-1).sum(-1)
