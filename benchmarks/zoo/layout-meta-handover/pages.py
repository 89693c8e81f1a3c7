import torch
from torch import nn


class Proposer(nn.Module):
    """Coarse: which of the page's cells hold anything."""

    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 4, 4),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, 1, 1),
            nn.ReLU(),
        )
        self.cells = nn.Conv2d(2 * width, 1, 1)

    def forward(self, pages):
        return self.cells(self.body(pages)).squeeze(1)


class Labeller(nn.Module):
    """Fine: what kind of thing each cell holds."""

    def __init__(self, kinds=5, width=40):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 8, 8), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1), nn.ReLU())
        self.kinds = nn.Conv2d(width, kinds, 1)

    def forward(self, pages):
        return self.kinds(self.body(pages))


def pages(count, seed, batch=6, size=64):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        ink = torch.rand(batch, 8, 8, generator=generator)
        blocks = ink.repeat_interleave(size // 8, 1).repeat_interleave(size // 8, 2)
        noise = torch.rand(batch, size, size, generator=generator)
        yield (blocks * noise)[:, None], (ink > 0.5).float(), (ink * 5).long().clamp_max(4)
