import torch
from torch import nn
from torch.nn import functional

STATE, ACTION = 18, 6


class Dynamics(nn.Module):
    """How the arm's state moves on under an action."""

    def __init__(self, width=640):
        super().__init__()
        self.inlet = nn.Linear(STATE + ACTION, width)
        self.mid = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.delta = nn.Linear(width, STATE)

    def forward(self, state, action):
        return state + 0.1 * self.delta(self.mid(self.inlet(torch.cat([state, action], -1))))


class Arm:
    """The arm itself: a damped linear system with a wrist that saturates."""

    def __init__(self, seed=0):
        self.generator = torch.Generator().manual_seed(seed)
        self.drift = 0.15 * torch.randn(STATE, STATE, generator=self.generator)
        self.push = 0.4 * torch.randn(ACTION, STATE, generator=self.generator)

    def states(self, count):
        return torch.randn(count, STATE, generator=self.generator)

    def actions(self, count):
        return torch.rand(count, ACTION, generator=self.generator) * 2 - 1

    def step(self, state, action):
        return 0.9 * state + torch.tanh(state @ self.drift + action @ self.push)


def fit(dynamics, arm, steps, batch=64):
    optimizer = torch.optim.Adam(dynamics.parameters(), lr=1e-3)
    for _ in range(steps):
        state, action = arm.states(batch), arm.actions(batch)
        loss = functional.mse_loss(dynamics(state, action), arm.step(state, action))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dynamics.zero_grad()
    return loss.item()
