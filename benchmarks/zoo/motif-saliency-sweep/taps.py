"""Gradient x input scores at chosen layers of a network."""

from collections import defaultdict

import torch


class InputTaps:
    """Records what flows into each named layer while it is open."""

    def __init__(self, model, names):
        self.entries = defaultdict(list)
        self._handles = [
            model.get_submodule(name).register_forward_pre_hook(self._tap(name)) for name in names
        ]

    def _tap(self, name):
        def grab(module, inputs):
            (x,) = inputs
            if x.requires_grad:
                x.retain_grad()
                self.entries[name].append(x)

        return grab

    def scores(self):
        """Mean |gradient x input| per channel, by layer, for the pass that just ran backward."""
        table = {}
        for name, entry in self.entries.items():
            x = entry[-1]
            table[name] = (x * x.grad).abs().mean(dim=(0, 2)).detach()
        return table

    def close(self):
        for handle in self._handles:
            handle.remove()


class RunningScores:
    """Running mean of the per-channel scores over the sweep."""

    def __init__(self):
        self.count = 0
        self.mean = {}

    def add(self, table):
        self.count += 1
        for name, value in table.items():
            old = self.mean.get(name, torch.zeros_like(value))
            self.mean[name] = old + (value - old) / self.count

    def top(self, name, k=3):
        return self.mean[name].topk(k).indices.tolist()
