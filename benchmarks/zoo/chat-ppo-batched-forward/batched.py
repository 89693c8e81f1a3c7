from dataclasses import dataclass

import torch


@dataclass
class Rollout:
    queries: torch.Tensor
    responses: torch.Tensor
    rewards: torch.Tensor


def logprobs_of(logits, tokens):
    return logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


@torch.no_grad()
def batched_forward(model, rollout, size):
    """Log-probabilities, values and entropies of a rollout before the update, a part at a time."""
    all_logits, all_logprobs, all_values = [], [], []
    for queries, responses in zip(rollout.queries.split(size), rollout.responses.split(size), strict=True):
        logits, values = model(queries)
        all_logits.append(logits)
        all_logprobs.append(logprobs_of(logits, responses))
        all_values.append(values)
    return torch.cat(all_logprobs), all_logits, torch.cat(all_values)
