import math

import torch


class Bench:
    """A test bench of bearings; `read()` gives the next window of all of them."""

    def __init__(self, bearings=64, window=24, seed=70):
        self.generator = torch.Generator().manual_seed(seed)
        self.speed = torch.rand(bearings, 1, generator=self.generator) + 0.5
        self.wear = torch.zeros(bearings, 1)
        self.clock = torch.arange(window, dtype=torch.float32)

    def read(self):
        phase = self.speed * self.clock
        noise = torch.randn(phase.shape, generator=self.generator)
        signal = torch.sin(phase) + self.wear * torch.sin(7 * phase) + 0.1 * noise
        self.wear += 0.01 * torch.rand(self.wear.shape, generator=self.generator)
        self.clock += len(self.clock)
        self.clock %= 1000 * math.pi
        return signal
