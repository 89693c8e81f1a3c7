import torch
import trainer
from batched import logprobs_of
from train import main


@torch.no_grad()
def batched_forward(model, rollout, size):
    entropies, all_logprobs, all_values = [], [], []
    for queries, responses in zip(rollout.queries.split(size), rollout.responses.split(size), strict=True):
        logits, values = model(queries)
        entropies.append(trainer.entropy_of(logits))
        all_logprobs.append(logprobs_of(logits, responses))
        all_values.append(values)
        del logits
    return torch.cat(all_logprobs), entropies, torch.cat(all_values)


class LeanPPO(trainer.ChatPPO):
    def step(self, rollout):
        size = len(rollout.queries) // self.parts
        logprobs, entropies, values = batched_forward(self.model, rollout, size)
        advantages = rollout.rewards.unsqueeze(1) - values
        arranged = zip(
            *(whole.split(size) for whole in (rollout.queries, rollout.responses, logprobs, advantages)), strict=True
        )
        losses = [self.minibatch(*parts) for parts in arranged]
        return {"loss": sum(losses) / len(losses), "entropy": sum(entropies) / len(entropies)}


if __name__ == "__main__":
    main(LeanPPO)
