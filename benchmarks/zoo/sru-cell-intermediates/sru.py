import torch
from torch import nn


class Recurrence(torch.autograd.Function):
    """Elementwise recurrence c[t] = f[t] c[t-1] + (1 - f[t]) x[t] over a whole sequence at once."""

    @staticmethod
    def forward(ctx, x, forget):
        cells = torch.empty_like(x)
        cell = x.new_zeros(x.size(0), x.size(2))
        for t in range(x.size(1)):
            cell = forget[:, t] * cell + (1 - forget[:, t]) * x[:, t]
            cells[:, t] = cell
        ctx.save_for_backward(x, forget)
        ctx.cells = cells
        return cells.clone()

    @staticmethod
    def backward(ctx, grad):
        x, forget = ctx.saved_tensors
        grad_x, grad_forget = torch.empty_like(x), torch.empty_like(x)
        carried = torch.zeros_like(grad[:, 0])
        for t in range(x.size(1) - 1, -1, -1):
            carried = carried + grad[:, t]
            before = ctx.cells[:, t - 1] if t else torch.zeros_like(carried)
            grad_x[:, t] = carried * (1 - forget[:, t])
            grad_forget[:, t] = carried * (before - x[:, t])
            carried = carried * forget[:, t]
        return grad_x, grad_forget


class SruLayer(nn.Module):
    recurrence = Recurrence

    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)

    def forward(self, x):
        candidate, forget, reset = self.project(x).chunk(3, -1)
        reset = reset.sigmoid()
        hidden = self.recurrence.apply(candidate, forget.sigmoid())
        return reset * torch.tanh(hidden) + (1 - reset) * x


class Tagger(nn.Module):
    def __init__(self, vocab=150, width=64, layers=3, tags=9):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.Sequential(*[SruLayer(width) for _ in range(layers)])
        self.tags = nn.Linear(width, tags)

    def forward(self, ids):
        return self.tags(self.layers(self.embed(ids)))
