import torch


class Ring:
    """Keys and values of the last `size` tokens of a conversation, oldest overwritten first."""

    def __init__(self, size):
        self.size, self.written = size, 0
        self.k = self.v = None

    def extend(self, k, v):
        if self.k is None:
            self.k, self.v = k, v
        else:
            self.k, self.v = torch.cat([self.k, k], 2), torch.cat([self.v, v], 2)
        if self.k.shape[2] > self.size:
            self.k, self.v = self.k[:, :, -self.size :].clone(), self.v[:, :, -self.size :].clone()
        self.written += k.shape[2]
        return self.k, self.v


class Conversations:
    """A ring per layer for each open conversation; the one longest silent makes room."""

    def __init__(self, room, layers, size):
        self.room, self.layers, self.size = room, layers, size
        self.open = {}

    def rings(self, who):
        rings = self.open.pop(who, None) or [Ring(self.size) for _ in range(self.layers)]
        self.open[who] = rings
        if len(self.open) > self.room:
            del self.open[next(iter(self.open))]
        return rings
