import torch


class Fields:
    """Leaves with a spot whose colours tell the pest."""

    def __init__(self, batch=12, size=64, kinds=5, seed=21):
        self.batch, self.size, self.kinds = batch, size, kinds
        self.generator = torch.Generator().manual_seed(seed)
        self.colours = torch.rand(kinds, 3, 1, 1, generator=self.generator) * 2

    def draw(self):
        kind = torch.randint(self.kinds, (self.batch,), generator=self.generator)
        pictures = 0.3 * torch.randn(self.batch, 3, self.size, self.size, generator=self.generator)
        corners = torch.randint(self.size - 14, (self.batch, 2), generator=self.generator).tolist()
        for row, (y, x) in enumerate(corners):
            pictures[row, :, y : y + 14, x : x + 14] += self.colours[kind[row]]
        return pictures, kind
