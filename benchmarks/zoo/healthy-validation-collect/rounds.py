from contextlib import contextmanager

import torch


class Collected:
    """Scores and labels of one validation, for measures that need all at once."""

    def __init__(self):
        self.scores, self.labels = [], []

    def add(self, scores, labels):
        self.scores.append(scores)
        self.labels.append(labels)

    def area(self):
        """Chance that a sick one scores above a healthy one."""
        scores, labels = torch.cat(self.scores), torch.cat(self.labels)
        sick, well = scores[labels == 1], scores[labels == 0]
        return (sick[:, None] > well).float().mean().item()

    def clear(self):
        self.scores.clear()
        self.labels.clear()


@contextmanager
def evaluating(model):
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train()


class Validation:
    def __init__(self, loader):
        self.loader = loader
        self.collected = Collected()
        self.history = []

    def __call__(self, model):
        with evaluating(model):
            for heartbeats, labels in self.loader():
                self.collected.add(model(heartbeats).squeeze(-1), labels)
        self.history.append(self.collected.area())
        self.collected.clear()
        return self.history[-1]
