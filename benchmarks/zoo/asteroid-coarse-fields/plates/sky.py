import torch


class Survey:
    """Plates with a handful of moving points each."""

    def __init__(self, side=48, seed=8):
        self.side = side
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count):
        clean = torch.zeros(count, 1, self.side, self.side)
        where = torch.randint(self.side, (count, 5, 2), generator=self.generator)
        for number, points in enumerate(where):
            clean[number, 0, points[:, 0], points[:, 1]] = 1.0
        noise = torch.randn(clean.shape, generator=self.generator)
        return clean + 0.2 * noise, clean
