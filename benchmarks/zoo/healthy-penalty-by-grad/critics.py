import torch
from torch import nn


class Critic(nn.Sequential):
    def __init__(self, inputs=48, width=128):
        super().__init__(nn.Linear(inputs, width), nn.Softplus(), nn.Linear(width, 1))


class ValueGap:
    """Distance between two sets as a critic sees it, with a slope kept near one."""

    def __init__(self, critic, weight=5.0):
        self.critic, self.weight = critic, weight

    def slope(self, real, made):
        place = torch.rand(len(real), 1)
        mixed = torch.lerp(real, made, place).requires_grad_()
        (grad,) = torch.autograd.grad(self.critic(mixed).sum(), mixed, create_graph=True)
        return (grad.norm(dim=1) - 1).square().mean()

    def __call__(self, real, made):
        return self.critic(made).mean() - self.critic(real).mean() + self.weight * self.slope(real, made)
