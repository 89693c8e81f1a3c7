import torch
from scan import scan_gradients
from stager import ScanBlock
from train import main


class SavingScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, delta, A, B, C):
        decay = torch.exp(delta.unsqueeze(-1) * A)
        states = (delta * u).unsqueeze(-1) * B.unsqueeze(2)
        for t in range(1, u.shape[1]):
            states[:, t].addcmul_(decay[:, t], states[:, t - 1])
        ctx.save_for_backward(u, delta, A, B, C, decay, states)
        return torch.einsum("btdn,btn->btd", states, C)

    @staticmethod
    def backward(ctx, grad):
        return scan_gradients(grad, *ctx.saved_tensors)


class SavingBlock(ScanBlock):
    function = SavingScan


if __name__ == "__main__":
    main(SavingBlock)
