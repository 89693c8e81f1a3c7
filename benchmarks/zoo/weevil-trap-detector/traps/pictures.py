import torch


class TrapPictures:
    def __init__(self, seed, batch=8, size=64):
        self.gen = torch.Generator().manual_seed(seed)
        self.batch, self.size = batch, size

    def draw(self):
        weevils = (torch.rand(self.batch, self.size // 4, self.size // 4, generator=self.gen) < 0.03).float()
        spots = weevils.repeat_interleave(4, 1).repeat_interleave(4, 2)
        return spots[:, None] + 0.4 * torch.randn(self.batch, 1, self.size, self.size, generator=self.gen), weevils
