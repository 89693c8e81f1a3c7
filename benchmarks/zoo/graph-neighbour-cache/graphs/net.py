import torch
from torch import nn

from . import propagation as spread


class GraphNet(nn.Module):
    def __init__(self, width=24, hidden=32, classes=4):
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, classes)

    def forward(self, graph):
        x = torch.relu(self.first(spread.propagation(graph)(graph.features)))
        return self.second(spread.propagation(graph)(x))
