"""Sparsemax (Martins and Astudillo, 2016): softmax's relative that gives exact zeros."""

import torch
from torch import nn


def _support(scores, dim):
    ordered = scores.sort(dim=dim, descending=True).values
    shape = [1] * scores.dim()
    shape[dim] = -1
    ranks = torch.arange(1, scores.size(dim) + 1, dtype=scores.dtype).view(shape)
    sums = ordered.cumsum(dim)
    inside = 1 + ranks * ordered > sums
    size = inside.sum(dim, keepdim=True)
    threshold = (sums.gather(dim, size - 1) - 1) / size
    return threshold, size


class SparsemaxFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, dim=-1):
        ctx.dim = dim
        scores = scores - scores.amax(dim, keepdim=True)
        threshold, ctx.size = _support(scores, dim)
        output = (scores - threshold).clamp_min(0)
        ctx.output = output
        return output

    @staticmethod
    def backward(ctx, grad_output):
        chosen = ctx.output > 0
        grad = grad_output * chosen
        mean = grad.sum(ctx.dim, keepdim=True) / ctx.size
        return torch.where(chosen, grad - mean, 0), None


class Sparsemax(nn.Module):
    function = SparsemaxFunction

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, scores):
        return self.function.apply(scores, self.dim)
