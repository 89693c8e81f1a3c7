import torch
from dynamics import ACTION, STATE
from torch import nn
from torch.nn import functional


class Cloner:
    """A small policy that learns to do what the planner did."""

    def __init__(self, planner, width=96):
        self.planner = planner
        inner = [nn.Linear(STATE, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()]
        self.policy = nn.Sequential(*inner, nn.Linear(width, ACTION))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)

    def step(self, states, actions):
        loss = functional.mse_loss(self.policy(states), actions)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def drive(self, arm, steps=5):
        state = arm.states(16)
        for _ in range(steps):
            state = arm.step(state, self.planner.clip(self.policy(state)))
        return state.square().mean().item()
