import torch
from torch import nn


class OneStage(nn.Module):
    """Every cell of the grid proposes `a` boxes: 4 numbers, a score, 27 mask coefficients."""

    def __init__(self, a=3, fields=32):
        super().__init__()
        self.a, self.fields = a, fields
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 24, 3, 2, 1), nn.ReLU())
        self.head = nn.Conv2d(24, a * fields, 1)

    def forward(self, x):
        y = self.head(self.body(x))
        return y.view(len(x), self.a * self.fields // self.fields, self.fields, -1).permute(0, 1, 3, 2).flatten(1, 2)


def objective(rows, boxes):
    score = rows[..., 4]
    best = score.argmax(1)
    picked = rows[torch.arange(len(rows)), best]
    return (picked[:, :4].sigmoid() - boxes).abs().mean() + nn.functional.softplus(score).mean() - 0.01 * score.max(1)[0].mean()


def strongest(rows, limit):
    """The rows of one picture by falling score."""
    order = rows[:, 4].argsort(descending=True)
    return rows[order][:limit]
