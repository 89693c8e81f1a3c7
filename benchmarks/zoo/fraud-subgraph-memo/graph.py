import torch


class Payments:
    """Who paid whom."""

    def __init__(self, accounts=6000, payments=30_000, features=48, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.edges = torch.randint(accounts, (2, payments), generator=g)
        self.x = torch.randn(accounts, features, generator=g)
        self.ring = (self.x[:, 0] + self.x[self.edges[0, :accounts], 1] > 1.2).float()
        self.g = g

    def seeds(self, n):
        return torch.randint(len(self.x), (n,), generator=self.g)

    def around(self, seeds):
        inside = torch.zeros(len(self.x), dtype=torch.bool)
        inside[seeds] = True
        for _ in range(2):
            near = inside[self.edges[0]] | inside[self.edges[1]]
            inside[self.edges[:, near].flatten()] = True
            if inside.sum() > 900:
                break
        nodes = inside.nonzero()[:, 0]
        kept = inside[self.edges].all(0)
        number = torch.full((len(self.x),), -1)
        number[nodes] = torch.arange(len(nodes))
        return Subgraph(self.x[nodes], number[self.edges[:, kept]], self.ring[nodes], number[seeds])


class Subgraph:
    def __init__(self, x, edges, ring, seeds):
        self.x, self.edges, self.ring, self.seeds = x, edges, ring, seeds
