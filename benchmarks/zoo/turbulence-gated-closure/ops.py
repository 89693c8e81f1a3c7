"""Hand-written operators of the closure model."""

import torch
from torch.autograd.function import once_differentiable


class GatedFlux(torch.autograd.Function):
    """value * sigmoid(gate) in one node, with a closed-form derivative."""

    @staticmethod
    def forward(ctx, value, logits):
        gate = torch.sigmoid(logits)
        flux = value * gate
        ctx.gate = gate
        ctx.flux = flux
        return flux

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * ctx.gate, grad * ctx.flux * (1 - ctx.gate)
