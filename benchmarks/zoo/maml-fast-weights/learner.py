from torch import nn
from torch.func import functional_call
from torch.nn import functional as F


class SineNet(nn.Sequential):
    def __init__(self, width=80):
        super().__init__(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


class InnerLoop:
    """A few steps of plain descent on copies of the weights, differentiable to second order."""

    def __init__(self, rate=0.05, steps=2):
        self.rate, self.steps = rate, steps

    def adapt(self, model, x, y):
        start = {name: value.detach().clone().requires_grad_() for name, value in model.named_parameters()}
        fast = start
        for _ in range(self.steps):
            fast = self.descend(model, fast, x, y)
        return start, fast

    def descend(self, model, fast, x, y):
        for value in fast.values():
            value.grad = None
            value.retain_grad()
        F.mse_loss(functional_call(model, fast, (x,)), y).backward(create_graph=True)
        return {name: value - self.rate * value.grad for name, value in fast.items()}
