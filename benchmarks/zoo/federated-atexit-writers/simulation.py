import torch
from client import Client


class Simulation:
    """Clients are drawn, trained once and dismissed; only their weights come back."""

    def __init__(self, model, per_round=2, lr=0.1):
        self.model, self.per_round, self.lr = model, per_round, lr
        self.drawn = 0

    def draw(self):
        generator = torch.Generator().manual_seed(self.drawn)
        rows = torch.randn(60, 45, generator=generator)
        self.drawn += 1
        return Client(self.drawn, self.model, rows, rows[:, :6].argmax(1))

    @torch.no_grad()
    def merge(self, updates):
        for own, *theirs in zip(self.model.parameters(), *updates):
            own.copy_(torch.stack(theirs).mean(0))

    def round(self):
        self.merge([self.draw().train(self.lr) for _ in range(self.per_round)])
