from collections import defaultdict
from dataclasses import dataclass, field

import torch


@dataclass
class EpochJournal:
    """What one epoch reported, task by task."""

    epoch: int
    losses: dict = field(default_factory=lambda: defaultdict(list))
    conflicts: int = 0

    def note(self, **values):
        for task, value in values.items():
            self.losses[task] += [value]

    def spread(self):
        """Mean and standard deviation by task."""
        stacked = {task: torch.stack(values) for task, values in self.losses.items()}
        return {task: (values.mean().item(), values.std().item()) for task, values in stacked.items()}
