import sparse
import torch
from sparse import gather_sum
from train import main


class SavingSoftplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, graph, features):
        summed = gather_sum(graph, features)
        out = torch.nn.functional.softplus(summed)
        ctx.save_for_backward(out)
        ctx.backward_cache = graph, features.dtype
        return out

    @staticmethod
    def backward(ctx, grad):
        (out,) = ctx.saved_tensors
        graph, dtype = ctx.backward_cache
        grad = grad * -torch.expm1(-out)
        return None, gather_sum(graph.reversed(), grad).to(dtype)


if __name__ == "__main__":
    sparse.NeighbourSoftplus = SavingSoftplus
    main()
