import torch
import torch.nn.functional as F

from . import taps
from .net import Tagger


class Lesson:
    def __init__(self, sparsity=1e-2):
        self.net = Tagger()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.sparsity = sparsity
        self.tapped = taps.tapped

    def step(self, joints, glosses):
        with self.tapped(self.net, "early", "late") as features:
            scores = self.net(joints)
        drift = sum((b - a).abs().mean() for a, b in zip(features["early"], features["late"]))
        loss = F.cross_entropy(scores, glosses) * (1 + self.sparsity * drift.clamp(max=1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
