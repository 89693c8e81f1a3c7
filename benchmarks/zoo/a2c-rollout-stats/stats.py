import functools
from collections import defaultdict

import torch


class Stats:
    """Numbers of the updates, averaged over `every` of them for one line of the log."""

    def __init__(self, every=14):
        self.every = every
        self.updates = 0
        self.pending = defaultdict(list)

    def track(self, **values):
        for name, value in values.items():
            self.pending[name].append(value.detach())
        self.updates += 1
        if self.updates % self.every == 0:
            self.flush()

    def flush(self):
        row = {name: torch.cat([v.flatten() for v in values]).mean().item() for name, values in self.pending.items()}
        self.pending.clear()
        print(f"update {self.updates:3d}", " ".join(f"{name}={value:.4f}" for name, value in row.items()))


def tracked(method):
    """What the method returns (a named tuple) goes to the learner's `stats`."""

    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        self.stats.track(**result._asdict())
        return result

    return wrapper
