import copy
from collections import deque
from contextlib import contextmanager

import torch


class WeightAverage:
    """Running mean of the weights seen at the end of each cycle."""

    def __init__(self, model):
        self.model = model
        self.mean = copy.deepcopy(model).requires_grad_(False)
        self.count = 0

    @torch.no_grad()
    def update(self):
        self.count += 1
        for mine, theirs in zip(self.mean.parameters(), self.model.parameters()):
            mine.lerp_(theirs, 1 / self.count)


class Snapshots:
    """The weights of the last cycles, for an ensemble."""

    def __init__(self, model, keep=3):
        self.model = model
        self.states = deque(maxlen=keep)

    def take(self):
        self.states.append({name: value.detach().clone() for name, value in self.model.state_dict().items()})

    @contextmanager
    def swapped(self, state):
        before = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.model.load_state_dict(state)
        try:
            yield self.model
        finally:
            self.model.load_state_dict(before)

    @torch.no_grad()
    def predict(self, images):
        total = 0
        for state in self.states:
            with self.swapped(state) as model:
                total = total + model(images).softmax(-1)
        return total / len(self.states)
