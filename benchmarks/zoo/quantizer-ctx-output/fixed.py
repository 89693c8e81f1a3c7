import quantizer
import torch
from train import main


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, levels):
        q = (x / scale).round().clamp(-levels, levels) * scale
        ctx.save_for_backward(q)
        ctx.limit = levels * scale
        return q

    @staticmethod
    def backward(ctx, grad):
        (q,) = ctx.saved_tensors
        return grad * (q.abs() < ctx.limit), None, None


if __name__ == "__main__":
    quantizer.RoundSTE = RoundSTE
    main()
