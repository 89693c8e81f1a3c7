import torch
from torch import nn


class LoadForecaster(nn.Module):
    """The next day of a power grid from the last four, by the quarter hour."""

    def __init__(self, stations=8, width=128):
        super().__init__()
        self.enter = nn.Linear(4 * 24, width)
        self.mix = nn.Sequential(nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.leave = nn.Linear(width, 24)

    def forward(self, past):
        return self.leave(self.mix(self.enter(past)))


def grid_days(seed, batch=16, stations=8):
    generator = torch.Generator().manual_seed(seed)
    hours = torch.arange(5 * 24) * 2 * torch.pi / 24
    while True:
        shift = 6 * torch.rand(batch, stations, 1, generator=generator)
        load = (hours + shift).sin() + 0.3 * (2 * hours + shift).cos()
        load = load + 0.1 * torch.randn(load.shape, generator=generator)
        yield load[..., :96], load[..., 96:]
