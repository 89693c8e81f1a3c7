import copy
from dataclasses import dataclass, field


@dataclass
class Config:
    lr: float = 0.02
    dropout: float = 0.1
    tags: list = field(default_factory=lambda: ["baseline"])


class History:
    """The settings as they were at every step, for the report."""

    def __init__(self):
        self.entries = []

    def note(self, step, config, loss):
        entry = copy.deepcopy(config)
        entry.tags.append(f"step {step}")
        self.entries.append((entry, loss))

    def best(self):
        return min(self.entries, key=lambda entry: entry[1])[0]
