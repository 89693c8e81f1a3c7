import torch
from preference import preference_loss, sequence_logps
from train import main
from trainer import PreferenceTrainer


class LeanTrainer(PreferenceTrainer):
    @torch.no_grad()
    def reference_logps(self, pairs):
        return sequence_logps(self.ref_model(pairs.ids), pairs)

    def training_step(self, pairs):
        reference = self.reference_logps(pairs)
        policy = sequence_logps(self.model(pairs.ids), pairs)
        loss, rewards = preference_loss(policy, reference)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), rewards


if __name__ == "__main__":
    main(LeanTrainer)
