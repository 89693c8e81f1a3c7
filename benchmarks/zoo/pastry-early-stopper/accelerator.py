"""The little of an accelerator that a single process needs."""

import contextlib

import torch


class Accelerator:
    def __init__(self, accumulate=1, max_norm=None):
        self.accumulate_steps = accumulate
        self.max_norm = max_norm
        self._calls = 0

    def prepare(self, *objects):
        return objects if len(objects) > 1 else objects[0]

    @property
    def sync(self):
        return self._calls % self.accumulate_steps == 0

    @contextlib.contextmanager
    def accumulate(self, optimizer):
        self._calls += 1
        yield
        if self.sync:
            if self.max_norm is not None:
                for group in optimizer.param_groups:
                    torch.nn.utils.clip_grad_norm_(group["params"], self.max_norm)
            optimizer.step()
            optimizer.zero_grad()

    def backward(self, loss):
        (loss / self.accumulate_steps).backward()

    def gather(self, value):
        return value
