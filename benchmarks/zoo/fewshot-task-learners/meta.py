import copy
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class TaskResult:
    accuracy: float
    learner: nn.Module


@dataclass
class MetaTrainer:
    model: nn.Module
    inner_lr: float = 0.05
    outer_lr: float = 0.1
    results: list = field(default_factory=list)

    def adapt(self, task):
        x, y = task
        learner = copy.deepcopy(self.model)
        inner = torch.optim.SGD(learner.parameters(), lr=self.inner_lr)
        for _ in range(2):
            inner.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(learner(x), y).backward()
            inner.step()
        inner.zero_grad(set_to_none=True)
        return learner

    def step(self, task):
        learner = self.adapt(task)
        with torch.no_grad():
            for slow, fast in zip(self.model.parameters(), learner.parameters()):
                slow.lerp_(fast, self.outer_lr)
            accuracy = (learner(task[0]).argmax(1) == task[1]).float().mean().item()
        self.results.append(self.summary(accuracy, learner))

    def summary(self, accuracy, learner):
        return TaskResult(accuracy, learner)
