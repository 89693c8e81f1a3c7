from dataclasses import dataclass

import torch


@dataclass
class Memory:
    """Keys and values of one layer for every beam."""

    keys: torch.Tensor | None = None
    values: torch.Tensor | None = None

    def extend(self, keys, values):
        if self.keys is not None:
            keys = torch.cat((self.keys, keys), 2)
            values = torch.cat((self.values, values), 2)
        self.keys, self.values = keys, values
        return keys, values

    def select(self, rows):
        return Memory(self.keys.index_select(0, rows), self.values.index_select(0, rows))


def fresh(depth):
    return [Memory() for _ in range(depth)]


def reorder(memories, rows):
    return [memory.select(rows) for memory in memories]
