"""Callbacks of the training loop."""

import torch


class Callback:
    def on_step(self, loop, loss):
        pass

    def on_stage(self, loop, stage):
        pass


class WeightAverager(Callback):
    """Exponential average of the weights for the exported voice."""

    def __init__(self, *modules, decay=0.9):
        self.decay = decay
        self.live = [p for module in modules for p in module.parameters()]
        self.mean = [p.detach().clone() for p in self.live]

    @torch.no_grad()
    def on_step(self, loop, loss):
        for p, mean in zip(self.live, self.mean):
            if p.requires_grad:
                mean.lerp_(p, 1 - self.decay)


class Progress(Callback):
    def __init__(self, every=6):
        self.every = every
        self.stage = "?"

    def on_stage(self, loop, stage):
        self.stage = stage

    def on_step(self, loop, loss):
        if loop.steps_done % self.every == 0:
            print(f"{self.stage} {loop.steps_done}: loss {loss:.3f}")
