import torch


class Gauges:
    def __init__(self, stations=6, length=6000, seed=0):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(length) / 24
        phase = torch.rand(stations, 3, 1, generator=g) * 6
        waves = [torch.sin(6.283 * t / p + phase[:, i]) for i, p in enumerate((0.5, 1.03, 14.8))]
        self.level = sum(waves) + 0.2 * torch.randn(stations, length, generator=g)
        self.g = g

    def batch(self, n, window=512, horizon=48):
        starts = torch.randint(self.level.shape[1] - window - horizon, (n,), generator=self.g)
        rows = torch.stack([self.level[:, s : s + window + horizon] for s in starts.tolist()])
        return rows[..., :window], rows[..., window:]
