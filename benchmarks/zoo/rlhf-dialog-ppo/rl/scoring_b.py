"""Scores a whole batch of replies under policy and reference."""

from dataclasses import dataclass

import torch


def token_logprobs(logits, ids):
    return logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)


@dataclass
class Scored:
    logprobs: torch.Tensor
    ref_logprobs: torch.Tensor
    values: torch.Tensor


class Scorer:
    def __init__(self, policy, reference):
        self.policy = policy
        self.reference = reference

    def __call__(self, ids):
        logits, values = self.policy(ids)
        with torch.no_grad():
            ref_logits = self.reference(ids).logits
            ref_logprobs = token_logprobs(ref_logits, ids)
        return Scored(
            logprobs=token_logprobs(logits, ids),
            ref_logprobs=ref_logprobs,
            values=values[:, :-1],
        )
