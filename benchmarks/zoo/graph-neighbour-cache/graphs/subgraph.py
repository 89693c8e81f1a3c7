import torch


class Subgraph:
    """Nodes and edges that one step works on."""

    def __init__(self, features, edges, labels):
        self.features = features
        self.edges = edges
        self.labels = labels

    def __len__(self):
        return len(self.features)


class Sampler:
    def __init__(self, nodes=900, width=24, size=150, seed=80):
        self.gen = torch.Generator().manual_seed(seed)
        self.features = torch.randn(nodes, width, generator=self.gen)
        self.labels = self.features[:, :4].argmax(1)
        self.size = size

    def draw(self, links=5):
        nodes = torch.randperm(len(self.features), generator=self.gen)[: self.size]
        edges = torch.randint(self.size, (2, links * self.size), generator=self.gen)
        return Subgraph(self.features[nodes], edges, self.labels[nodes])
