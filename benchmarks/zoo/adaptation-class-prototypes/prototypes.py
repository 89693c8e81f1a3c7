from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class PrototypeBank:
    """One direction per class, moved towards the mean feature of each source batch."""

    centres: torch.Tensor
    momentum: float = 0.95
    temperature: float = 0.1

    @classmethod
    def empty(cls, classes, dim, **settings):
        return cls(torch.zeros(classes, dim), **settings)

    def class_means(self, features, labels):
        belongs = F.one_hot(labels, len(self.centres)).to(features.dtype)
        return belongs.T @ F.normalize(features, dim=1) / belongs.sum(0).clamp(min=1).unsqueeze(1)

    def update(self, features, labels):
        means = self.class_means(features, labels)
        self.centres = self.momentum * self.centres + (1 - self.momentum) * means

    def pseudo_labels(self, features):
        with torch.no_grad():
            similarity = F.normalize(features, dim=1) @ self.centres.T
            return (similarity / self.temperature).argmax(1)
