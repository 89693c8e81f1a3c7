from dataclasses import dataclass

import torch


@dataclass
class Move:
    before: torch.Tensor
    action: int
    reward: float
    after: torch.Tensor


class PriorityRing:
    """The last `capacity` moves; the surprising ones are drawn more often."""

    def __init__(self, capacity, seed=0):
        self.capacity = capacity
        self.moves = []
        self.place = 0
        self.surprise = torch.zeros(capacity)
        self.generator = torch.Generator().manual_seed(seed)

    def add(self, move):
        if len(self.moves) < self.capacity:
            self.moves.append(move)
        else:
            self.moves[self.place] = move
        self.surprise[self.place] = self.surprise.max().clamp_min(1.0)
        self.place = (self.place + 1) % self.capacity

    def draw(self, count):
        rows = torch.multinomial(self.surprise[: len(self.moves)], count, generator=self.generator)
        picked = [self.moves[row] for row in rows.tolist()]
        return (
            rows,
            torch.stack([move.before for move in picked]),
            torch.tensor([move.action for move in picked]),
            torch.tensor([move.reward for move in picked]),
            torch.stack([move.after for move in picked]),
        )

    def learned(self, rows, errors):
        self.surprise[rows] = errors.detach().abs() + 1e-3
