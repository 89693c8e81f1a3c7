"""Click log input: rows are drawn and staged one batch ahead of the trainer."""

from dataclasses import dataclass

import torch


@dataclass
class ClickBatch:
    dense: torch.Tensor  # raw counters, one column per signal
    history: torch.Tensor  # last viewed item ids
    clicked: torch.Tensor

    def __len__(self):
        return len(self.clicked)


class ClickLog:
    """Synthetic impression log."""

    def __init__(self, seed, signals=640, visits=80, rows=4096):
        self.gen = torch.Generator().manual_seed(seed)
        self.signals = signals
        self.visits = visits
        self.rows = rows

    def read(self):
        dense = torch.rand(self.rows, self.signals, generator=self.gen).mul_(300)
        history = torch.randint(2_000_000, (self.rows, self.visits), generator=self.gen)
        clicked = (dense[:, 0] + dense[:, 1] > 330).float()
        return ClickBatch(dense, history, clicked)


class StagedFeed:
    """Keeps one batch ready, so that the trainer never waits for the log."""

    def __init__(self, log, batches):
        self.log = log
        self.remaining = batches
        self.rows_served = 0
        self._staged = None

    def _stage(self):
        if self.remaining == 0:
            return None
        self.remaining -= 1
        return self.log.read()

    def next_batch(self):
        if self._staged is None:
            self._staged = self._stage()
        active = self._staged
        self._staged = self._stage()
        if active is not None:
            self.rows_served += len(active)
        return active
