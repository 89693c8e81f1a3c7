from dataclasses import dataclass

import torch


@dataclass
class PPOSettings:
    kl_weight: float = 0.05
    clip: float = 0.2
    updates: int = 36


def gather_logprobs(logits, actions):
    chosen = logits.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    return chosen - logits.logsumexp(-1)


class PPOStep:
    def __init__(self, policy, reference, optimizer, settings):
        self.policy, self.reference = policy, reference
        self.optimizer, self.settings = optimizer, settings

    def policy_logprobs(self, observed, actions):
        return torch.log_softmax(self.policy(observed), -1).gather(-1, actions.unsqueeze(-1)).squeeze(-1)

    def surrogate(self, logprobs, advantages):
        ratio = (logprobs - logprobs.detach()).exp()
        bounded = ratio.clamp(1 - self.settings.clip, 1 + self.settings.clip)
        return -torch.minimum(ratio * advantages, bounded * advantages).mean()

    def update(self, tokens, advantages):
        observed, actions = tokens[:, :-1], tokens[:, 1:]
        with torch.no_grad():
            ref_logits = self.reference(observed)
            ref_logprobs = gather_logprobs(ref_logits, actions)
        logprobs = self.policy_logprobs(observed, actions)
        kl = (logprobs - ref_logprobs).square().mean()
        loss = self.surrogate(logprobs, advantages) + self.settings.kl_weight * kl
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "kl": kl.item()}
