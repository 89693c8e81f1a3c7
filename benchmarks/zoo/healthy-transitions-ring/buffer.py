import random
from collections import namedtuple

import torch

Transition = namedtuple("Transition", "seen action reward following")


class TransitionRing:
    """The latest transitions, as the objects they came as; the oldest is overwritten."""

    def __init__(self, capacity, seed=0):
        self.capacity = capacity
        self.items = []
        self.next = 0
        self.random = random.Random(seed)

    def __len__(self):
        return len(self.items)

    def push(self, *parts):
        item = Transition(*parts)
        if len(self.items) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.next] = item
        self.next = (self.next + 1) % self.capacity

    def sample(self, count):
        chosen = self.random.sample(self.items, count)
        return Transition(*(torch.stack(column) for column in zip(*chosen)))
