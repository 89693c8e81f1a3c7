import copy

import torch
import torch.nn.functional as F
from torch import nn


def hoot_encoder(bins=96, width=160, dim=256):
    return nn.Sequential(nn.Linear(bins, width), nn.ReLU(), nn.Linear(width, dim))


class MomentumPair:
    """A network that learns and a slow copy of it that makes the keys."""

    def __init__(self, network, momentum=0.95):
        self.network = network
        self.slow = copy.deepcopy(network).requires_grad_(False)
        self.momentum = momentum

    def follow(self):
        with torch.no_grad():
            for slow, quick in zip(self.slow.parameters(), self.network.parameters()):
                slow.lerp_(quick, 1 - self.momentum)

    def __call__(self, first, second):
        return F.normalize(self.network(first), dim=-1), F.normalize(self.slow(second), dim=-1)


def info_nce(queries, keys, negatives, temperature=0.2):
    logits = (queries * keys).sum(-1, keepdim=True)
    if negatives is not None:
        logits = torch.cat([logits, queries @ negatives.T], 1)
    return F.cross_entropy(logits / temperature, torch.zeros(len(queries), dtype=torch.long))
