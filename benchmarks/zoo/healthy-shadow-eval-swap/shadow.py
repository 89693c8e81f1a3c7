from contextlib import contextmanager

import torch


class Shadow:
    """Averaged weights that can take the place of the trained ones for a while."""

    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.weights = {name: value.detach().clone() for name, value in model.named_parameters()}

    @torch.no_grad()
    def follow(self, model):
        for name, value in model.named_parameters():
            self.weights[name].lerp_(value, 1 - self.decay)

    @contextmanager
    def in_place(self, model):
        self.exchange(model)
        try:
            yield model
        finally:
            self.exchange(model)

    def exchange(self, model):
        for name, value in model.named_parameters():
            value.data, self.weights[name] = self.weights[name], value.data
