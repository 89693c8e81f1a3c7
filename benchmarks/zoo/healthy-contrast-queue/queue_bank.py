import torch
from torch.nn.functional import normalize


class KeyQueue:
    """The newest keys of earlier batches, first in first out; empty at first."""

    def __init__(self, dim, capacity=1024):
        self.capacity = capacity
        self.keys = torch.zeros(0, dim)

    @torch.no_grad()
    def push(self, keys):
        self.keys = torch.cat([keys, self.keys])[: self.capacity].clone()


@torch.no_grad()
def follow(slow, fast, momentum=0.99):
    for old, new in zip(slow.parameters(), fast.parameters(), strict=True):
        old.lerp_(new, 1 - momentum)


def unit(network, samples):
    return normalize(network(samples), dim=1)
