import random

import torch


def lesson(level, seed, size=24, batch=16):
    """Mazes of one level, redrawn a little after every batch; sent the learner's share of right moves."""
    generator = torch.Generator().manual_seed(seed)
    walls = (torch.rand(batch, size, size, generator=generator) < level / 12).float()
    while True:
        flow = walls
        for _ in range(level):
            flow = torch.nn.functional.avg_pool2d(flow[:, None], 3, 1, 1)[:, 0]
        right = yield torch.stack((walls, flow), 1), (flow.mean((1, 2)) * 4).long().clamp(max=3)
        change = torch.rand(walls.shape, generator=generator) < 0.02
        walls = torch.where(change, 1 - walls, walls)
        level += right is not None and right > 0.9


class Curriculum:
    """Draws from a few lessons at a time; one that is mastered, or goes on too long, makes room for a new one."""

    def __init__(self, at_once=3, patience=4):
        self.random = random.Random(2)
        self.patience = patience
        self.started = 0
        self.active = [self.open() for _ in range(at_once)]
        self.parked = []

    def open(self):
        self.started += 1
        stream = lesson(1 + self.started % 4, self.started)
        return {"stream": stream, "batch": next(stream), "visits": 0}

    def draw(self):
        self.slot = self.random.randrange(len(self.active))
        return self.active[self.slot]["batch"]

    def told(self, right):
        entry = self.active[self.slot]
        entry["visits"] += 1
        entry["batch"] = entry["stream"].send(right)
        if right > 0.8 or entry["visits"] >= self.patience:
            self.retire(entry)
            self.active[self.slot] = self.open()

    def retire(self, entry):
        entry["batch"] = None
        self.parked.append(entry["stream"])
