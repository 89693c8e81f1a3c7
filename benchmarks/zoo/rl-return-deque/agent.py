from collections import deque

import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self, obs=24, actions=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 64), nn.Tanh())
        self.policy = nn.Linear(64, actions)
        self.value = nn.Linear(64, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return torch.distributions.Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


class RolloutStatistics:
    def __init__(self):
        self.returns = deque()
        self.entropies = deque()

    def push(self, returns, entropy):
        self.returns.append(returns.mean())
        self.entropies.append(entropy.detach())

    def recent(self, count=10):
        values = list(self.returns)[-count:]
        return torch.stack(values).mean().item()
