import torch


class PlainAdagrad(torch.optim.Optimizer):
    """The update of the first character models: squared gradients are summed for good."""

    def __init__(self, params, lr=0.05, eps=1e-8):
        super().__init__(params, {"lr": lr, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                total = self.state[p].setdefault("sum", torch.zeros_like(p))
                total.addcmul_(p.grad, p.grad)
                p.data.addcdiv_(p.grad, total.sqrt().add_(group["eps"]), value=-group["lr"])
