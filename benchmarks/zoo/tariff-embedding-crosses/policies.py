import torch


class Policies:
    def __init__(self, rows=12_288, codes=56_000, seed=2):
        g = torch.Generator().manual_seed(seed)
        self.codes = torch.randint(codes, (rows, 6), generator=g)
        self.dense = torch.randn(rows, 32, generator=g)
        rate = torch.exp(0.3 * self.dense[:, 0] - 0.2 * self.dense[:, 3] - 1.0)
        self.claims = torch.poisson(rate, generator=g)

    def batches(self, size, generator):
        for index in torch.randperm(len(self.claims), generator=generator).split(size):
            yield self.codes[index], self.dense[index], self.claims[index]
