import torch
from modes import jobs
from torch import nn


class DelayNet(nn.Module):
    """Delay of each sailing of the afternoon, given the morning."""

    def __init__(self, morning=64, sailings=80, width=192):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(morning, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, sailings),
        )

    def forward(self, morning):
        return self.layers(morning)


@jobs.register("fit")
def fit(network, optimizer, morning, delays):
    loss = nn.functional.huber_loss(network(morning), delays)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@jobs.register("noon", mode="evaluation")
def noon(network, days, quantile=0.9):
    """Forecasts for several days, and the delay that few sailings exceed."""
    forecasts = {day: network(morning) for day, morning in days.items()}
    worst = {day: forecast.quantile(quantile, dim=0) for day, forecast in forecasts.items()}
    return forecasts, worst


def days(count, batch=100, morning=64, sailings=80, seed=321):
    g = torch.Generator().manual_seed(seed)
    couple = torch.randn(morning, sailings, generator=g) / morning**0.5
    for _ in range(count):
        seen = torch.randn(batch, morning, generator=g)
        yield seen, (seen @ couple).relu() + 0.1 * torch.randn(batch, sailings, generator=g)
