import torch


class Stations:
    """Three-component records with two arrivals in noise."""

    def __init__(self, count=96, length=256, seed=6):
        generator = torch.Generator().manual_seed(seed)
        time = torch.arange(length)
        first = torch.randint(40, 110, (count,), generator=generator)
        second = first + torch.randint(30, 90, (count,), generator=generator)
        self.clean = torch.zeros(count, 3, length)
        for arrival, scale in ((first, 1.0), (second, 2.0)):
            since = (time - arrival[:, None]).clamp(min=0)[:, None]
            turns = torch.rand(count, 3, 1, generator=generator)
            self.clean += scale * turns * torch.sin(since * 0.5) * torch.exp(-since / 25)
        self.noisy = self.clean + 0.4 * torch.randn(count, 3, length, generator=generator)
        self.labels = torch.zeros(count, length, dtype=torch.long)
        self.labels.scatter_(1, first[:, None], 1).scatter_(1, second[:, None], 2)
        self.generator = generator

    def rows(self, size=16):
        return torch.randint(len(self.clean), (size,), generator=self.generator)
