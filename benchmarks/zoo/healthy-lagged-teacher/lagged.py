"""Self-distillation: the model of some steps ago is its own teacher."""

import copy

import torch


class LaggedTeacher:
    def __init__(self, model, every=5):
        self.model = model
        self.every = every
        self.steps = 0
        self.teacher = None

    def tick(self):
        if self.steps % self.every == 0:
            self.teacher = copy.deepcopy(self.model).eval().requires_grad_(False)
        self.steps += 1

    @torch.no_grad()
    def targets(self, series):
        return self.teacher(series)
