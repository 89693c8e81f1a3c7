import torch
from memory import NodeMemory
from torch import nn


class LinkPredictor(nn.Module):
    def __init__(self, nodes=600, dim=48, memory_class=NodeMemory):
        super().__init__()
        self.memory = memory_class(nodes, dim)
        self.identity = nn.Embedding(nodes, dim)
        self.compare = nn.Sequential(nn.Linear(4 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def view(self, nodes):
        return torch.cat([self.identity(nodes), self.memory.read(nodes)], 1)

    def forward(self, source, target):
        return self.compare(torch.cat([self.view(source), self.view(target)], 1)).squeeze(1)


class Events:
    def __init__(self, nodes=600, batch=100, count=40, seed=2):
        self.nodes, self.batch, self.count = nodes, batch, count
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        for number in range(self.count):
            source = torch.randperm(self.nodes, generator=self.generator)[: self.batch]
            target = (source * 7 + 3) % self.nodes
            wrong = torch.randint(self.nodes, (self.batch,), generator=self.generator)
            yield source, target, wrong, torch.full((self.batch,), number / self.count)
