import copy
from dataclasses import dataclass

import torch
from policy import LMOutput, sample, token_logps


@dataclass
class Group:
    """Several answers to each question, and what they were worth."""

    tokens: torch.Tensor
    prompt_length: int
    advantages: torch.Tensor
    old_logps: torch.Tensor = None
    reference_output: LMOutput = None
    reference_logps: torch.Tensor = None

    @property
    def inputs(self):
        return self.tokens[:, :-1]

    @property
    def targets(self):
        return self.tokens[:, 1:]

    @property
    def mask(self):
        mask = torch.zeros_like(self.targets, dtype=torch.float)
        mask[:, self.prompt_length - 1 :] = 1
        return mask


class GRPO:
    def __init__(self, policy, reward, answers=8, new_tokens=20, clip=0.2, beta=0.04):
        self.policy, self.reward = policy, reward
        self.frozen = copy.deepcopy(policy).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
        self.answers, self.new_tokens = answers, new_tokens
        self.clip, self.beta = clip, beta

    def gather(self, prompts):
        tokens = sample(self.policy, prompts.repeat_interleave(self.answers, 0), self.new_tokens)
        rewards = self.reward(tokens[:, prompts.shape[1] :]).view(-1, self.answers)
        advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
        group = Group(tokens, prompts.shape[1], advantages.flatten())
        self.judge(group)
        return group, rewards.mean().item()

    @torch.no_grad()
    def judge(self, group):
        group.old_logps = token_logps(self.policy(group.inputs).logits, group.targets)
        group.reference_output = self.frozen(group.inputs)
        group.reference_logps = token_logps(group.reference_output.logits, group.targets)

    def loss(self, group):
        logps = token_logps(self.policy(group.inputs).logits, group.targets)
        ratio = (logps - group.old_logps).exp()
        gain = group.advantages[:, None]
        surrogate = torch.minimum(ratio * gain, ratio.clamp(1 - self.clip, 1 + self.clip) * gain)
        apart = group.reference_logps - logps
        kl = apart.exp() - apart - 1
        return ((self.beta * kl - surrogate) * group.mask).sum() / group.mask.sum()

    def update(self, group, epochs=2):
        for _ in range(epochs):
            loss = self.loss(group)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            value = loss.item()
            del loss
        return value
