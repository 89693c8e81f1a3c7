from functools import wraps

import torch


class Metric:
    """Base of metrics with tensor states; counts updates and caches the computed value."""

    def __init__(self):
        self.updates = 0
        self.computed = None
        self._wrap()

    def _wrap(self):
        self.update = self._counted(self.update)
        self.compute = self._cached(self.compute)

    def _counted(self, update):
        @wraps(update)
        def counted(*args):
            self.computed = None
            self.updates += 1
            return update(*args)

        return counted

    def _cached(self, compute):
        @wraps(compute)
        def cached():
            if self.computed is None:
                self.computed = compute()
            return self.computed

        return cached

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name not in ("update", "compute")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._wrap()


class Calibration(Metric):
    def __init__(self, classes, bins=400):
        self.hits = torch.zeros(classes, bins)
        self.seen = torch.zeros(classes, bins)
        super().__init__()

    def update(self, probabilities, target):
        confidence, winner = probabilities.max(1)
        column = (confidence * self.hits.size(1)).long().clamp(max=self.hits.size(1) - 1)
        self.seen[winner, column] += 1
        self.hits[winner, column] += (winner == target).float()

    def compute(self):
        return ((self.hits / self.seen.clamp_min(1)).mean(1) - 0.5).abs().mean().item()


class Confusion(Metric):
    def __init__(self, classes):
        self.table = torch.zeros(classes, classes)
        super().__init__()

    def update(self, probabilities, target):
        self.table.index_put_((target, probabilities.argmax(1)), torch.ones(len(target)), accumulate=True)

    def compute(self):
        return (self.table.diagonal().sum() / self.table.sum().clamp_min(1)).item()
