import torch


class Schedule:
    """Learning rates by stage, with functions to call when a stage begins."""

    def __init__(self, optimizer, rates, length):
        self.optimizer, self.rates, self.length = optimizer, rates, length
        self.listeners = []
        self.count = 0

    def step(self):
        if self.count % self.length == 0:
            stage = self.count // self.length
            for group in self.optimizer.param_groups:
                group["lr"] = self.rates[stage % len(self.rates)]
            for listener in self.listeners:
                listener(stage)
        self.count += 1


class DriftWatch:
    """How far the weights have moved since the stage began, after every step of the optimizer."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.far = {}

    def weights(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def begin(self, stage):
        start = [p.detach().clone() for p in self.weights()]

        @torch.no_grad()
        def measure(optimizer, args, kwargs):
            self.far[stage] = sum((p - s).square().sum() for p, s in zip(self.weights(), start)).sqrt().item()

        self.optimizer.register_step_post_hook(measure)
