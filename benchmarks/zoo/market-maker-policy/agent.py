from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from book import OrderBook, Rollout
from torch import nn


class Losses(NamedTuple):
    policy: torch.Tensor
    value: torch.Tensor
    entropy: torch.Tensor


@dataclass(frozen=True)
class A2CConfig:
    lr: float = 2e-3
    value_weight: float = 0.5
    entropy_weight: float = 0.0
    max_norm: float = 1.0


class QuotingPolicy(nn.Module):
    def __init__(self, features: int = 16, quotes: int = 64, width: int = 96) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.actor = nn.Linear(width, quotes)
        self.critic = nn.Linear(width, 1)

    def forward(self, observations):
        hidden = self.body(observations)
        return self.actor(hidden).log_softmax(-1), self.critic(hidden).squeeze(-1)


class Learner:
    """Advantage actor-critic on one-step episodes."""

    def __init__(self, policy: QuotingPolicy, config: A2CConfig) -> None:
        self.policy = policy
        self.config = config
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=config.lr)

    @torch.no_grad()
    def collect(self, book: OrderBook, generator: torch.Generator) -> Rollout:
        observations = book.observe()
        log_probs, _ = self.policy(observations)
        actions = torch.multinomial(log_probs.exp(), 1, generator=generator).squeeze(1)
        return Rollout(observations, actions, book.settle(observations, actions))

    def losses(self, rollout: Rollout) -> Losses:
        log_probs, values = self.policy(rollout.observations)
        advantage = rollout.returns - values.detach()
        chosen = log_probs.gather(1, rollout.actions[:, None]).squeeze(1)
        return Losses(
            policy=-(advantage * chosen).mean(),
            value=(rollout.returns - values).square().mean(),
            entropy=-(log_probs.exp() * log_probs).sum(-1).mean(),
        )

    def update(self, rollout: Rollout) -> Losses:
        losses = self.losses(rollout)
        objective = losses.policy + self.config.value_weight * losses.value
        if self.config.entropy_weight:
            objective = objective - self.config.entropy_weight * losses.entropy
        self.optimizer.zero_grad()
        objective.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.max_norm)
        self.optimizer.step()
        return losses
