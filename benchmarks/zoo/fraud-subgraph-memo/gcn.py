import torch
from propagation import propagator
from torch import nn


class GCN(nn.Module):
    def __init__(self, features=48, width=32, layers=3):
        super().__init__()
        sizes = [features] + [width] * layers
        self.linears = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, graph):
        h = graph.x
        for linear in self.linears:
            h = torch.relu(propagator(graph)(linear(h)))
        return self.out(h[graph.seeds]).squeeze(1)
