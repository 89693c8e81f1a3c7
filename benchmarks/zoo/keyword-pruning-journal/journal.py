from typing import NamedTuple

from torch.optim import Optimizer


class Entry(NamedTuple):
    width: int
    optimizer: Optimizer
    losses: list

    @property
    def settings(self):
        group = self.optimizer.param_groups[0]
        return f"lr={group['lr']:.1e} wd={group['weight_decay']:.1e}"


class Journal:
    """What every round of pruning ran with and where it came to."""

    def __init__(self):
        self.entries = {}

    def open(self, width, optimizer):
        self.entries[width] = Entry(width, optimizer, [])
        return self.entries[width].losses

    def table(self):
        for entry in self.entries.values():
            yield f"{entry.width:4d} {entry.settings} {entry.losses[0]:.4f} -> {entry.losses[-1]:.4f}"
