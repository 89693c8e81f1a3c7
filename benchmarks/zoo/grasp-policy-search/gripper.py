import torch
from torch import nn


class Actor(nn.Module):
    def __init__(self, view=48, joints=6):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(view, 64), nn.Tanh(), nn.Linear(64, joints))
        self.spread = nn.Parameter(torch.zeros(joints))

    def forward(self, view):
        return torch.distributions.Normal(self.mean(view), self.spread.exp())


class Critic(nn.Module):
    def __init__(self, view=48, width=96):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(view, width), nn.ELU(), nn.Linear(width, width), nn.ELU())
        self.score = nn.Linear(width, 1)

    def forward(self, view):
        return self.score(self.body(view)).squeeze(-1)


class Bin:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.right = torch.randn(48, 6, generator=self.gen) * 0.2

    def look(self, grippers=128):
        return torch.randn(grippers, 48, generator=self.gen)

    def grasp(self, view, action):
        return torch.exp(-(view @ self.right - action).square().mean(-1))
