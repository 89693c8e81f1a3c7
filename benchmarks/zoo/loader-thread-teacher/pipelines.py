import torch
from torch import nn


class Pipeline:
    def __init__(self, model):
        self.model = model.eval().requires_grad_(False)

    @torch.no_grad()
    def warm_up(self):
        self.model[0].weight.mul_(1.0)

    @torch.no_grad()
    def __call__(self, x):
        return self.model(x)


def labeller():
    return Pipeline(nn.Sequential(nn.Linear(80, 900), nn.ReLU(), nn.Linear(900, 900), nn.ReLU(), nn.Linear(900, 6)))


def embedder():
    return Pipeline(nn.Sequential(nn.Linear(80, 64), nn.Tanh()))


BUILDERS = {"labeller": labeller, "embedder": embedder}
