import copy

import torch
from torch import nn


class TokenPolicy(nn.Module):
    def __init__(self, vocab=1500, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


def frozen_copy(policy):
    return copy.deepcopy(policy).requires_grad_(False).eval()


class Prompts:
    def __init__(self, batch=8, length=32, vocab=1500, seed=17):
        self.shape, self.vocab = (batch, length + 1), vocab
        self.generator = torch.Generator().manual_seed(seed)

    def rollout(self):
        tokens = torch.randint(self.vocab, self.shape, generator=self.generator)
        rewards = (tokens[:, 1:] % 7 == 0).float()
        return tokens, rewards - rewards.mean()
