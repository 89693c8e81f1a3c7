from dataclasses import dataclass

import torch
from policy import token_logprobs


@dataclass
class Experience:
    tokens: torch.Tensor
    start: int
    logprobs: torch.Tensor
    reference: torch.Tensor
    advantages: torch.Tensor

    def minibatches(self, size):
        for rows in torch.randperm(len(self.tokens)).split(size):
            yield self.tokens[rows], self.logprobs[rows].detach(), self.reference[rows], self.advantages[rows]


class Collector:
    def __init__(self, policy, reference, reward, samples=4, length=12, kl=0.02):
        self.policy, self.reference, self.reward = policy, reference, reward
        self.samples, self.length, self.kl = samples, length, kl

    @torch.no_grad()
    def write(self, tokens):
        for _ in range(self.length):
            chances = (self.policy(tokens)[:, -1]).softmax(-1)
            tokens = torch.cat((tokens, chances.multinomial(1)), 1)
        return tokens

    def own_logprobs(self, tokens, start):
        return token_logprobs(self.policy, tokens, start)

    def collect(self, documents):
        start = documents.size(1)
        tokens = self.write(documents.repeat_interleave(self.samples, 0))
        logprobs = self.own_logprobs(tokens, start)
        with torch.no_grad():
            reference = token_logprobs(self.reference, tokens, start)
            drift = (logprobs - reference).sum(1)
            rewards = (self.reward(tokens[:, :start], tokens[:, start:]) - self.kl * drift).view(-1, self.samples)
            baseline = (rewards.sum(1, keepdim=True) - rewards) / (self.samples - 1)
            advantages = (rewards - baseline).flatten()
        return Experience(tokens, start, logprobs, reference, advantages), rewards.mean().item()
