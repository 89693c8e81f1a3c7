import torch

from snow import melt as gates
from train import main


class SavingGate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pack, heat):
        melted = torch.minimum(pack.clamp(min=0), heat.clamp(min=0))
        ctx.save_for_backward(pack, heat, melted)
        return melted

    @staticmethod
    def backward(ctx, grad):
        pack, heat, melted = ctx.saved_tensors
        alive = (melted > 0).to(grad)
        by_pack = (pack <= heat).to(grad) * alive
        return grad * by_pack, grad * (1 - by_pack) * alive


if __name__ == "__main__":
    gates.melt = SavingGate.apply
    main()
