from typing import NamedTuple

import torch
from torch import nn


class Trajectory(NamedTuple):
    states: torch.Tensor
    actions: torch.Tensor
    flow_logits: torch.Tensor
    log_reward: torch.Tensor


class ForwardPolicy(nn.Module):
    def __init__(self, sites=24, letters=8, width=96):
        super().__init__()
        self.sites, self.letters = sites, letters
        self.body = nn.Sequential(nn.Linear(sites * letters, width), nn.LeakyReLU(), nn.Linear(width, width))
        self.head = nn.Sequential(nn.LeakyReLU(), nn.Linear(width, sites * letters))
        self.log_z = nn.Parameter(torch.zeros(()))

    def forward(self, states):
        return self.head(self.body(states)).view(-1, self.sites, self.letters)


class SequenceSampler:
    """Fills the sites of a sequence from left to right, a batch of sequences at a time."""

    def __init__(self, policy, seed=23):
        self.policy = policy
        self.generator = torch.Generator().manual_seed(seed)

    def reward(self, actions):
        return (actions == actions.roll(1, 1)).float().mean(1).add(0.05).log()

    def sample(self, count):
        sites, letters = self.policy.sites, self.policy.letters
        actions = torch.randint(letters, (count, sites), generator=self.generator)
        states = nn.functional.one_hot(actions, letters).flatten(1).float()
        states[:, (sites // 2) * letters :] = 0.0
        return Trajectory(states, actions, self.policy(states).log_softmax(-1), self.reward(actions))
