import torch
from torch import nn


class NodeMemory(nn.Module):
    """What each node has seen so far; read by the link predictor, written after each batch of events."""

    def __init__(self, nodes, dim):
        super().__init__()
        self.state = torch.zeros(nodes, dim)
        self.message = nn.Sequential(nn.Linear(2 * dim + 1, 2 * dim), nn.Tanh(), nn.Linear(2 * dim, dim))
        self.merge = nn.GRUCell(dim, dim)

    def read(self, nodes):
        return self.state[nodes].detach()

    def write(self, source, target, time):
        before = self.state[source]
        message = self.message(torch.cat([before, self.state[target], time.unsqueeze(1)], 1))
        self.state = self.state.index_copy(0, source, self.merge(message, before))

    def reset(self):
        self.state = torch.zeros_like(self.state)
