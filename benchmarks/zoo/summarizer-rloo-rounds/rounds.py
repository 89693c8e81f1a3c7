import torch
from policy import token_logprobs


class RlooTrainer:
    def __init__(self, collector, lr=1e-3, epochs=2, minibatch=16, clip=0.2):
        self.collector = collector
        self.policy = collector.policy
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=lr)
        self.epochs, self.minibatch, self.clip = epochs, minibatch, clip
        self.experience = None
        self.updates = 0

    def round(self, documents):
        self.experience, reward = self.collector.collect(documents)
        for _ in range(self.epochs):
            for part in self.experience.minibatches(self.minibatch):
                self.update(*part)
        return reward

    def update(self, tokens, old, reference, advantages):
        new = token_logprobs(self.policy, tokens, self.experience.start)
        ratio = (new - old).exp()
        gain = torch.minimum(
            ratio * advantages[:, None], ratio.clamp(1 - self.clip, 1 + self.clip) * advantages[:, None]
        )
        drift = (reference - new).exp() - 1 - (reference - new)
        loss = 0.05 * drift.mean() - gain.mean()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        self.updates += 1
