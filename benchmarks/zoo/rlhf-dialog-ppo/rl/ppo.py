"""One clipped policy update per batch of replies."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class PpoConfig:
    clip: float = 0.2
    kl: float = 0.1
    value: float = 0.3
    lr: float = 5e-4


class Replies:
    """Prompts and sampled replies of a dialogue agent, with a reward for staying on topic."""

    def __init__(self, seed, vocab, batch=10, length=48):
        self.gen = torch.Generator().manual_seed(seed)
        self.vocab, self.batch, self.length = vocab, batch, length

    def draw(self):
        ids = torch.randint(self.vocab, (self.batch, self.length), generator=self.gen)
        topic = ids[:, :1].remainder(10)
        return ids, ids[:, 1:].remainder(10).eq(topic).float()


class PpoUpdater:
    def __init__(self, scorer, config):
        self.scorer = scorer
        self.config = config
        self.optimizer = torch.optim.AdamW(scorer.policy.parameters(), lr=config.lr)

    def objective(self, scored, reward):
        c = self.config
        drift = scored.logprobs - scored.ref_logprobs
        returns = (reward - c.kl * drift.detach()).flip(1).cumsum(1).flip(1) / reward.shape[1]
        advantage = returns - scored.values.detach()
        ratio = (scored.logprobs - scored.logprobs.detach()).exp()
        clipped = ratio.clamp(1 - c.clip, 1 + c.clip)
        policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        return policy_loss + c.value * F.mse_loss(scored.values, returns), drift.detach().mean().item()

    def update(self, ids, reward):
        scored = self.scorer(ids)
        loss, drift = self.objective(scored, reward)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "drift": drift, "reward": reward.mean().item()}
