import torch
from torch import nn
from torch.nn import functional


class Codebook(nn.Module):
    """Codes that follow the mean of what is assigned to them; no gradient moves them."""

    def __init__(self, codes=64, width=32, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(codes, width))
        self.register_buffer("sizes", torch.ones(codes))
        self.register_buffer("sums", self.codes.clone())
        self.last_use = None

    def forward(self, x):
        rows = x.flatten(0, -2)
        nearest = torch.cdist(rows.detach(), self.codes).argmin(1)
        picked = self.codes[nearest].view_as(x)
        if self.training:
            self.follow(rows, nearest)
        return x + (picked - x).detach(), functional.mse_loss(x, picked)

    @torch.no_grad()
    def follow(self, rows, nearest):
        used = functional.one_hot(nearest, len(self.codes)).to(rows)
        self.last_use = used.sum(0)
        self.sizes = self.decay * self.sizes + (1 - self.decay) * self.last_use
        self.sums = self.decay * self.sums + (1 - self.decay) * used.T @ rows
        self.codes = self.sums / self.sizes.clamp_min(1e-2)[:, None]

    def perplexity(self):
        shares = self.last_use / self.last_use.sum()
        return (-(shares * shares.clamp_min(1e-9).log()).sum()).exp().item()
