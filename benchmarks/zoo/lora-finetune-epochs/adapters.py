import torch
from torch import nn


class LowRank(nn.Module):
    def __init__(self, base, rank=4, scale=2.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) * 0.02)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = scale

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.down.T @ self.up.T)


class Instructed(nn.Module):
    """A frozen body with low-rank additions; its output says what the router of the experts cost, too."""

    def __init__(self, vocab=300, dim=64, experts=6):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim).requires_grad_(False)
        self.router = LowRank(nn.Linear(dim, experts))
        self.experts = nn.ModuleList(LowRank(nn.Linear(dim, dim)) for _ in range(experts))
        self.head = LowRank(nn.Linear(dim, vocab))

    def forward(self, input_ids, labels):
        x = self.embed(input_ids)
        routes = self.router(x).softmax(-1)
        mixed = sum(routes[..., i : i + 1] * torch.tanh(expert(x)) for i, expert in enumerate(self.experts))
        loss = nn.functional.cross_entropy(self.head(x + mixed).flatten(0, 1), labels.flatten())
        return {"loss": loss, "balance": (routes * (routes + 1e-6).log()).sum(-1).mean()}
