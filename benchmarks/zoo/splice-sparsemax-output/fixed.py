import torch
from sparsemax import Sparsemax, _support
from train import main


class SavingFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, dim=-1):
        ctx.dim = dim
        scores = scores - scores.amax(dim, keepdim=True)
        threshold, size = _support(scores, dim)
        output = (scores - threshold).clamp_min(0)
        ctx.save_for_backward(output, size)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        output, size = ctx.saved_tensors
        chosen = output > 0
        grad = grad_output * chosen
        mean = grad.sum(ctx.dim, keepdim=True) / size
        return torch.where(chosen, grad - mean, 0), None


class SavingSparsemax(Sparsemax):
    function = SavingFunction


if __name__ == "__main__":
    main(SavingSparsemax)
