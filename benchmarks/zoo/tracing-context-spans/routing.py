import torch
from torch import nn
from tracing import note


class Routed(nn.Module):
    """Two of a few experts for every token."""

    def __init__(self, width=32, experts=6, inner=48):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width)) for _ in range(experts)
        )

    def forward(self, x):
        shares, chosen = self.gate(x).softmax(-1).topk(2, -1)
        weights = torch.zeros(*x.shape[:-1], len(self.experts)).scatter(-1, chosen, shares)
        note(weights=weights.detach())
        return x + sum(weights[..., i, None] * expert(x) for i, expert in enumerate(self.experts))


class Tagger(nn.Module):
    def __init__(self, letters=30, width=32, tags=8):
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.body = nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.GELU())
        self.routed = Routed(width)
        self.tags = nn.Linear(width, tags)

    def forward(self, text):
        x = self.body(self.letters(text).transpose(1, 2)).transpose(1, 2)
        return self.tags(self.routed(x))


def load(opened):
    """Share of the tokens that each expert had."""
    return [round(share, 2) for share in (opened.notes["weights"] > 0).float().mean((0, 1)).tolist()]


def texts(count, batch=32, length=64):
    generator = torch.Generator().manual_seed(12)
    for _ in range(count):
        text = torch.randint(30, (batch, length), generator=generator)
        yield text, (text + text.roll(1, 1)) % 8
