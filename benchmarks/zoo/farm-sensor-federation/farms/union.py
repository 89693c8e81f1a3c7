import torch
from torch import nn

from .client import Farm


class Union:
    """Averages what the farms of a round send."""

    farm_class = Farm

    def __init__(self, width=150):
        self.shared = nn.Sequential(
            nn.Linear(30, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def round(self, numbers, steps):
        farms = [self.farm_class(number, self.shared) for number in numbers]
        losses = [farm.season(steps) for farm in farms]
        with torch.no_grad():
            for name, parameter in self.shared.named_parameters():
                parameter.copy_(sum(farm.net.get_parameter(name) for farm in farms) / len(farms))
        return sum(losses) / len(losses)
