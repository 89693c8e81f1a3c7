import torch


def seasons(count, batch=24, days=12, seed=14):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(count):
        weather = torch.randn(batch, days, 6, generator=gen)
        yield weather, torch.relu(weather[..., 0].cumsum(1) * 0.2 + weather[..., 1])
