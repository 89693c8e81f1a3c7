import torch


class Archive:
    """Records as the archive has them: float64 counts, three components, and where the P wave begins."""

    def __init__(self, size=20, samples=7200, seed=31):
        self.size, self.samples = size, samples
        self.generator = torch.Generator().manual_seed(seed)
        self.time = torch.arange(samples)

    def record(self):
        onset = torch.randint(1200, self.samples - 1200, (self.size,), generator=self.generator)
        since = (self.time - onset[:, None]).clamp_min(0)
        wave = torch.sin(since * 0.35) * torch.exp(-since / 900.0) * 6
        noise = torch.randn(self.size, 3, self.samples, generator=self.generator)
        return {"traces": (wave[:, None] + noise).double() * 1e3, "onset": onset}


def arrivals(batches):
    archive = Archive()
    for _ in range(batches):
        yield archive.record()
