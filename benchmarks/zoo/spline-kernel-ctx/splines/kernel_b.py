import torch

from splines.kernel import Cells


class SavedSplineKernel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, positions, knots, widths):
        cells = Cells.evaluate(positions, knots, widths)
        ctx.save_for_backward(cells.offsets, cells.widths, cells.values)
        return cells.values

    @staticmethod
    def backward(ctx, grad):
        offsets, widths, values = ctx.saved_tensors
        slope = grad * values * 2 * offsets / widths**2
        return -slope.sum(-1), slope.flatten(0, -2).sum(0), (slope * offsets / widths).flatten(0, -2).sum(0)
