from collections import deque

import torch


class Replay:
    """Remembers trajectories, the recent ones to learn from and all to look back at; how many, the capacity says."""

    def __init__(self, capacity=50_000, recent=8, seed=29):
        self.items = deque(maxlen=capacity)
        self.recent = recent
        self.generator = torch.Generator().manual_seed(seed)

    def push(self, trajectory):
        self.items.append(trajectory)

    def pick(self):
        back = torch.randint(min(self.recent, len(self.items)), (), generator=self.generator)
        return self.items[-1 - int(back)]
