from collections import defaultdict

import torch


class LossCurves:
    """One curve for each term; turned into numbers only when somebody looks."""

    def __init__(self):
        self.curves = defaultdict(list)

    def record(self, terms):
        for name, value in terms.items():
            self.curves[name].append(value.detach())

    def latest(self, count=10):
        return {name: torch.stack(values[-count:]).mean().item() for name, values in self.curves.items()}
