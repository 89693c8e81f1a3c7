import torch


def pings(count, beams=16, cells=2048, seed=17):
    generator = torch.Generator().manual_seed(seed)
    fading = torch.linspace(1, 0.1, cells)
    for number in range(count):
        profiles = torch.randn(beams, cells, generator=generator).abs_().mul_(fading)
        if number % 20 > 15:
            profiles[:, 300:310] += 6
        yield profiles
