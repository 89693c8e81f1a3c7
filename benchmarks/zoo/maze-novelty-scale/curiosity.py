import torch
from torch import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class Novelty(nn.Module):
    """Random network distillation: what the predictor gets wrong is new."""

    def __init__(self, observation, width=128, code=64, rate=0.05):
        super().__init__()
        self.target = mlp(observation, width, code).requires_grad_(False)
        self.predictor = mlp(observation, width, width, code)
        self.rate = rate
        self.scale = torch.ones(())

    def error(self, seen):
        return (self.predictor(seen) - self.target(seen)).square().mean(1)

    def track(self, error):
        self.scale = (1 - self.rate) * self.scale + self.rate * error.std()

    def bonus(self, seen):
        error = self.error(seen)
        self.track(error)
        return (error / self.scale).clamp(0, 5).detach()
