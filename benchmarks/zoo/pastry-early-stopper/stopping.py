"""Early stopping on a smoothed validation loss."""

from collections import deque


class Plateau(Exception):
    pass


class EarlyStopper:
    def __init__(self, patience=6, window=5, min_delta=1e-4):
        self.patience = patience
        self.min_delta = min_delta
        self.window = deque(maxlen=window)
        self.best = float("inf")
        self.waited = 0

    @property
    def smoothed(self):
        return float(sum(self.window) / len(self.window))

    def __call__(self, value):
        self.window.append(value)
        if self.smoothed < self.best - self.min_delta:
            self.best, self.waited = self.smoothed, 0
        else:
            self.waited += 1
        if self.waited >= self.patience:
            raise Plateau(f"no progress below {self.best:.4f}")
