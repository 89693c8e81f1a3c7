import copy

import torch
from preference import preference_loss, sequence_logps


class PreferenceTrainer:
    def __init__(self, model, lr=5e-4):
        self.model = model
        self.ref_model = copy.deepcopy(model).eval().requires_grad_(False)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def training_step(self, pairs):
        with torch.no_grad():
            ref_logits = self.ref_model(pairs.ids)
            reference = sequence_logps(ref_logits, pairs)
        policy = sequence_logps(self.model(pairs.ids), pairs)
        loss, rewards = preference_loss(policy, reference)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), rewards
