"""Softening of a glaze with temperature, as an operator with its own derivative."""

import torch


class Softening(torch.autograd.Function):
    @staticmethod
    def forward(ctx, temperature, onset, steepness):
        excess = steepness * (temperature - onset)
        flow = torch.sigmoid(excess)
        melted = flow * excess
        ctx.steepness = steepness
        ctx.save_for_backward(flow, excess, melted)
        return melted, flow

    @staticmethod
    def backward(ctx, grad_melted, grad_flow):
        flow, excess, melted = ctx.saved_tensors
        slope = flow * (1 - flow)
        local = grad_melted * (flow + excess * slope) + grad_flow * slope
        grad = ctx.steepness * local
        return grad, -grad.sum(0), None


def soften(temperature, onset, steepness=2.0):
    return Softening.apply(temperature, onset, steepness)
