import torch


class FlatMomentum:
    """Momentum SGD on one flat master copy; the model's own weights are views written back after each step."""

    def __init__(self, params, lr, momentum=0.9):
        self.params = [p for p in params if p.requires_grad]
        self.lr, self.momentum = lr, momentum
        self.master = torch.cat([p.detach().flatten() for p in self.params])
        self.velocity = torch.zeros_like(self.master)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        flat = torch.cat([p.grad.flatten() for p in self.params])
        self.velocity.mul_(self.momentum).add_(flat)
        self.master.sub_(self.velocity, alpha=self.lr)
        start = 0
        for p in self.params:
            p.copy_(self.master[start : start + p.numel()].view_as(p))
            start += p.numel()
