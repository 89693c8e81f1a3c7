"""Gaussian splines with a backward of their own."""

from dataclasses import dataclass

import torch


@dataclass
class Cells:
    """What backward needs of one call."""

    offsets: torch.Tensor
    widths: torch.Tensor
    values: torch.Tensor

    @classmethod
    def evaluate(cls, positions, knots, widths):
        offsets = positions.unsqueeze(-1) - knots
        return cls(offsets, widths, torch.exp(-((offsets / widths) ** 2)))


class SplineKernel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, positions, knots, widths):
        ctx.cells = cells = Cells.evaluate(positions, knots, widths)
        return cells.values

    @staticmethod
    def backward(ctx, grad):
        cells = ctx.cells
        slope = grad * cells.values * 2 * cells.offsets / cells.widths**2
        return -slope.sum(-1), slope.flatten(0, -2).sum(0), (slope * cells.offsets / cells.widths).flatten(0, -2).sum(0)
