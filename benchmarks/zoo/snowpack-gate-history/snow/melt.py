"""A melt gate with its own derivative: snow that is gone can not melt, and the gradient knows it."""

import torch


class MeltGate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pack, heat):
        melted = torch.minimum(pack.clamp(min=0), heat.clamp(min=0))
        ctx.save_for_backward(pack, heat)
        ctx.melted = melted
        return melted

    @staticmethod
    def backward(ctx, grad):
        pack, heat = ctx.saved_tensors
        alive = (ctx.melted > 0).to(grad)
        by_pack = (pack <= heat).to(grad) * alive
        return grad * by_pack, grad * (1 - by_pack) * alive


melt = MeltGate.apply
