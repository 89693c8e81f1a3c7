"""Temporal ensembling (Laine and Aila, 2017): each picture's past predictions are its soft target."""

import torch


class EnsembleTargets:
    def __init__(self, samples, classes, momentum=0.6, temperature=0.5):
        self.values = torch.zeros(samples, classes)
        self.seen = torch.zeros(samples, dtype=torch.long)
        self.momentum = momentum
        self.temperature = temperature

    def lookup(self, index):
        """Targets without the start-up bias, and which of them have any history."""
        correction = 1 - self.momentum ** self.seen[index].clamp_min(1)
        return (self.values[index] / correction[:, None]).detach(), self.seen[index] > 0

    def update(self, index, logits):
        sharpened = torch.softmax(logits / self.temperature, dim=-1)
        blended = self.momentum * self.values[index] + (1 - self.momentum) * sharpened
        self.values = self.values.index_copy(0, index, blended)
        self.seen[index] += 1
