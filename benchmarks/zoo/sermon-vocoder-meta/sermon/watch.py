"""Norms of weights, for the log."""

from typing import NamedTuple

import torch


class Entry(NamedTuple):
    group: str
    name: str
    weight: torch.nn.Parameter


class WeightNorms:
    def __init__(self):
        self.entries = []

    def follow(self, group, module):
        for name, weight in module.named_parameters():
            self.entries.append(Entry(group, name, weight))

    @torch.no_grad()
    def norms(self):
        return {f"{entry.group}.{entry.name}": entry.weight.norm().item() for entry in self.entries}

    def summary(self):
        return f"{len(self.entries)} weights"
