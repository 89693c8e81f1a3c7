from functools import lru_cache

import torch


class FeatureStore:
    def __init__(self, items=500, width=64):
        self.table = torch.randn(items, width)
        self.mix = torch.randn(width, width) / width**0.5

    @lru_cache(maxsize=None)
    def lookup(self, items):
        return torch.tanh(self.table[items] @ self.mix)
