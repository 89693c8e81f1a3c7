import queue

import torch


def fields(count, size=224, batch=4, seed=9):
    generator = torch.Generator().manual_seed(seed)
    rows = torch.linspace(0, 12, size)
    pattern = torch.sin(rows)[:, None] * torch.cos(1.7 * rows)
    for _ in range(count):
        dose = torch.rand(batch, 1, 1, 1, generator=generator) + 0.5
        yield dose * pattern + torch.randn(batch, 1, size, size, generator=generator)


class Session:
    """The microscope's exposures come in handfuls and are worked off one after another."""

    def __init__(self, exposures, handful=3):
        self.exposures, self.handful = exposures, handful
        self.waiting = queue.Queue()

    def fill(self):
        for _ in range(self.handful):
            exposure = next(self.exposures, None)
            if exposure is None:
                return
            self.waiting.put(exposure)

    def work(self, handler):
        while True:
            if self.waiting.empty():
                self.fill()
            if self.waiting.empty():
                return
            yield handler(self.waiting.get())
