from collections.abc import Callable
from dataclasses import dataclass

import torch
from models import length_reward


@dataclass
class Config:
    steps: int = 36
    kl: float = 0.05
    reward_source: str = "rule"
    log_every: int = 10


class PolicyTrainer:
    def __init__(self, models, config):
        self.config = config
        self.policy, self.reference = models["policy"], models["reference"]
        self.reward_model = models["reward"]
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.score = self.pick_score()

    def pick_score(self) -> Callable:
        return self.reward_model if self.config.reward_source == "model" else length_reward

    def step(self, ids):
        logp = self.policy(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        with torch.no_grad():
            base = self.reference(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            reward = self.score(ids)
        advantage = reward - reward.mean()
        loss = -(advantage[:, None] * logp).mean() + self.config.kl * (logp - base).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), reward.mean().item()

    def run(self, prompts):
        for number in range(self.config.steps):
            loss, reward = self.step(next(prompts))
            if number % self.config.log_every == 0:
                print(number, f"{loss:.4f} {reward:.3f}")
