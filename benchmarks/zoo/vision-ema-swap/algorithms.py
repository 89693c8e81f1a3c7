import copy

import torch


class Algorithm:
    def on(self, event, state):
        handler = getattr(self, event, None)
        if handler is not None:
            handler(state)


class WeightAverage(Algorithm):
    """Averages the weights while training and evaluates with the average."""

    def __init__(self, half_life=8):
        self.smoothing = 0.5 ** (1 / half_life)
        self.average = None
        self.training_weights = {}

    @torch.no_grad()
    def batch_end(self, state):
        current = state.model.state_dict()
        if self.average is None:
            self.average = copy.deepcopy(current)
        for name, value in self.average.items():
            value.lerp_(current[name], 1 - self.smoothing)

    def eval_start(self, state):
        self.training_weights[state.batch] = copy.deepcopy(state.model.state_dict())
        state.model.load_state_dict(self.average)

    def eval_end(self, state):
        state.model.load_state_dict(self.training_weights[state.batch])


class Plateau(Algorithm):
    def __init__(self, patience=6):
        self.patience, self.best, self.waited = patience, float("inf"), 0

    def eval_end(self, state):
        self.waited = 0 if state.eval_loss < self.best else self.waited + 1
        self.best = min(self.best, state.eval_loss)
        if self.waited > self.patience:
            for group in state.optimizer.param_groups:
                group["lr"] *= 0.5
