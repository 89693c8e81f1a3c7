import torch


class Corpus:
    def __init__(self, batches, batch=12, bands=40, frames=98):
        self.batches = batches
        self.shape = (batch, bands, frames)

    def clips(self, number):
        gen = torch.Generator().manual_seed(9000 + number)
        return torch.randn(self.shape, generator=gen)

    def __len__(self):
        return self.batches

    def __iter__(self):
        for number in range(self.batches):
            yield number, self.clips(number)
