"""Two slots: the batch in work and the batch that is next."""

from dataclasses import dataclass

import torch


@dataclass
class Impression:
    signals: torch.Tensor
    ads: torch.Tensor
    clicked: torch.Tensor


class ImpressionLog:
    def __init__(self, seed, rows=3072, signals=400, slots=30, vocabulary=20_000):
        self.gen = torch.Generator().manual_seed(seed)
        self.rows, self.signals, self.slots, self.vocabulary = rows, signals, slots, vocabulary

    def read(self):
        signals = torch.randn(self.rows, self.signals, generator=self.gen)
        ads = torch.randint(self.vocabulary, (self.rows, self.slots), generator=self.gen)
        return Impression(signals, ads, signals[:, :4].sum(1).gt(0).float())


class DoubleBuffer:
    def __init__(self, log, batches):
        self._log = log
        self._left = batches
        self._slots = [None, None]
        self._turn = 0

    def _fill(self, slot):
        if self._left:
            self._left -= 1
            self._slots[slot] = self._log.read()

    def take(self):
        """Hand over the batch in turn; the other slot is filled before the trainer goes on."""
        if self._slots[self._turn] is None:
            self._fill(self._turn)
        batch, self._slots[self._turn] = self._slots[self._turn], None
        self._turn = 1 - self._turn
        if self._slots[self._turn] is None:
            self._fill(self._turn)
        return batch
