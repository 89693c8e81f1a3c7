import torch
from batched import batched_forward, logprobs_of


def entropy_of(logits):
    spread = logits.log_softmax(-1)
    return -spread.exp().mul_(spread).sum(-1).mean().item()


class ChatPPO:
    def __init__(self, model, lr=1e-3, parts=4, clip=0.2):
        self.model, self.parts, self.clip = model, parts, clip
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def minibatch(self, queries, responses, old, advantages):
        logits, values = self.model(queries)
        ratio = (logprobs_of(logits, responses) - old).exp()
        del logits
        bounded = ratio.clamp(1 - self.clip, 1 + self.clip)
        policy = -torch.minimum(ratio * advantages, bounded * advantages).mean()
        loss = policy + 0.1 * (values - advantages).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def step(self, rollout):
        size = len(rollout.queries) // self.parts
        logprobs, logits, values = batched_forward(self.model, rollout, size)
        entropy = sum(entropy_of(part) for part in logits) / len(logits)
        advantages = rollout.rewards.unsqueeze(1) - values
        arranged = zip(
            *(whole.split(size) for whole in (rollout.queries, rollout.responses, logprobs, advantages)), strict=True
        )
        losses = [self.minibatch(*parts) for parts in arranged]
        return {"loss": sum(losses) / len(losses), "entropy": entropy}
