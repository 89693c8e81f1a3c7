from typing import NamedTuple

import torch
import torch.nn.functional as F


class Pairs(NamedTuple):
    ids: torch.Tensor  # the chosen ones first, then as many rejected
    answer: torch.Tensor  # which positions are part of the answer


class Rewards(NamedTuple):
    chosen: float
    rejected: float
    margin: float


def pair_stream(vocab, pairs=3, length=40, prompt=10, seed=31):
    generator = torch.Generator().manual_seed(seed)
    answer = torch.arange(length) >= prompt
    while True:
        ids = torch.randint(vocab, (2 * pairs, length), generator=generator)
        ids[pairs:, :prompt] = ids[:pairs, :prompt]
        yield Pairs(ids, answer.expand_as(ids))


def sequence_logps(logits, pairs):
    picked = logits[:, :-1].log_softmax(-1).gather(-1, pairs.ids[:, 1:, None]).squeeze(-1)
    return (picked * pairs.answer[:, 1:]).sum(-1).chunk(2)


def preference_loss(policy, reference, beta=0.1):
    chosen, rejected = (beta * (p - r) for p, r in zip(policy, reference))
    loss = -F.logsigmoid(chosen - rejected).mean()
    margin = (chosen - rejected).mean().item()
    return loss, Rewards(chosen.mean().item(), rejected.mean().item(), margin)
