import torch
from networks import head_groups
from torch.nn import functional as F


class CriticLearner:
    """TD targets with a penalty on the norm of the loss's own gradient (flat minima)."""

    def __init__(self, critic, lr=1e-3, strength=0.05):
        self.critic, self.strength = critic, strength
        self.optimizer = torch.optim.AdamW(head_groups(critic, lr))

    @property
    def learned(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def gradients(self, loss):
        loss.backward(create_graph=True)
        return [p.grad for p in self.learned]

    def penalty(self, loss):
        return sum(g.square().sum() for g in self.gradients(loss)).sqrt()

    def update(self, frames, actions, targets):
        self.optimizer.zero_grad()
        loss = F.smooth_l1_loss(self.critic(frames, actions), targets)
        norm = self.penalty(loss)
        (self.strength * norm).backward()
        self.optimizer.step()
        return loss.item(), norm.item()
