import torch
from ppo import PPOStep, gather_logprobs
from train import main


class LeanStep(PPOStep):
    def update(self, tokens, advantages):
        observed, actions = tokens[:, :-1], tokens[:, 1:]
        with torch.no_grad():
            ref_logprobs = gather_logprobs(self.reference(observed), actions)
        logprobs = self.policy_logprobs(observed, actions)
        kl = (logprobs - ref_logprobs).square().mean()
        loss = self.surrogate(logprobs, advantages) + self.settings.kl_weight * kl
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "kl": kl.item()}


if __name__ == "__main__":
    main(LeanStep)
