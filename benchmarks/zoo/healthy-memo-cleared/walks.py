"""Powers of a walk matrix, memoised until the graph changes."""

import functools

import torch


class Walks:
    def __init__(self, nodes=110, seed=261):
        self.gen = torch.Generator().manual_seed(seed)
        self.nodes = nodes
        self.rewire()

        @functools.lru_cache(maxsize=None)
        def power(hops):
            return torch.linalg.matrix_power(self.walk, hops)

        self.power = power

    def rewire(self):
        links = (torch.rand(self.nodes, self.nodes, generator=self.gen) < 0.06).float()
        links = links + torch.eye(self.nodes)
        self.walk = links / links.sum(1, keepdim=True)

    def new_epoch(self):
        self.rewire()
        self.power.cache_clear()
