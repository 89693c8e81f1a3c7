import torch
from torch import nn


class Judge(nn.Module):
    """Reward model, fitted before and frozen since; asked in every third update."""

    def __init__(self, vocab=6000, width=192):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.score = nn.Linear(width, 1)
        self.requires_grad_(False).eval()

    @torch.no_grad()
    def forward(self, tokens):
        return self.score(self.rnn(self.embed(tokens))[0][:, -1]).squeeze(1)
