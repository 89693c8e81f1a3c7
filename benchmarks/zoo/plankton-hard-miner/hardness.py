import torch
from torch.nn import functional


class HardnessTable:
    """One number per photograph: how badly it was told apart when last seen."""

    def __init__(self, size, floor=0.05):
        self.scores = torch.full((size,), 10.0)
        self.floor = floor

    def draw(self, count, generator):
        return torch.multinomial(self.scores + self.floor, count, generator=generator)

    def update(self, index, scores):
        self.scores[index] = scores

    def hardest(self, count=3):
        return self.scores.topk(count).indices.tolist()


class Tempered:
    """Scores photographs at a softer temperature than the one trained with."""

    def __init__(self, table, temperature=3.0):
        self.table = table
        self.temperature = temperature

    def __call__(self, index, logits, labels):
        soft = functional.cross_entropy(logits / self.temperature, labels, reduction="none")
        self.table.update(index, soft)
