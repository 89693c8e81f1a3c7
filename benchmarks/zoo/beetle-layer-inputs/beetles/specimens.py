import torch


class Cabinet:
    def __init__(self, kinds=9, side=32, seed=2):
        self.generator = torch.Generator().manual_seed(seed)
        self.shells = torch.randn(kinds, 3, side, side, generator=self.generator)

    def draw(self, count):
        kinds = torch.randint(len(self.shells), (count,), generator=self.generator)
        noise = torch.randn(count, *self.shells.shape[1:], generator=self.generator)
        return self.shells[kinds] + noise, kinds
