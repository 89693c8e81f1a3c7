from dataclasses import dataclass, field

import torch


@dataclass
class Trial:
    number: int
    params: dict
    value: float = float("inf")
    schedule: object = None


@dataclass
class Study:
    space: dict
    trials: list = field(default_factory=list)

    def __post_init__(self):
        self.generator = torch.Generator().manual_seed(12)

    def ask(self):
        params = {}
        for name, (low, high) in self.space.items():
            params[name] = low + (high - low) * torch.rand((), generator=self.generator).item()
        return Trial(len(self.trials), params)

    def tell(self, trial, value):
        trial.value = value
        self.trials.append(trial)

    @property
    def best(self):
        return min(self.trials, key=lambda trial: trial.value)
