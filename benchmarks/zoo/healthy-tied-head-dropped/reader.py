import torch
from torch import nn


class Ties:
    """Which modules share one weight; checked after every change of the model."""

    def __init__(self):
        self.pairs = []

    def tie(self, source, follower):
        follower.weight = source.weight
        self.pairs.append((source, follower))

    def check(self):
        for source, follower in self.pairs:
            if follower.weight is not source.weight:
                raise RuntimeError(f"{follower} went its own way")


class Reader(nn.Module):
    def __init__(self, words=2400, width=96, ties=None):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.mixer = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.Linear(width, words, bias=False)
        ties.tie(self.words, self.decoder)

    def forward(self, tokens):
        hidden, _ = self.mixer(self.words(tokens))
        return self.decoder(hidden) if "decoder" in self._modules else self.judge(hidden.mean(1))

    def turn_to_judging(self, classes):
        """Give the word head up for one that judges whole texts."""
        del self.decoder
        self.judge = nn.Linear(self.words.embedding_dim, classes)
        return self.judge.parameters()


def texts(words=2400, length=24, batch=8, seed=111):
    generator = torch.Generator().manual_seed(seed)
    while True:
        start = torch.randint(words, (batch, 1), generator=generator)
        tokens = (start + torch.randint(1, 4, (batch, length), generator=generator).cumsum(1)) % words
        yield tokens, (start[:, 0] * 4 // words)
