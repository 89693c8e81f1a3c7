import torch
from torch import nn


class Reference(nn.Module):
    """What each machine usually looks like, and how far the present is from it."""

    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(2 * width, width)
        self.usual = None

    def deviation(self, state):
        return state - self.usual.detach()

    def forward(self, state):
        if self.usual is None:
            self.usual = torch.zeros_like(state)
        away = self.deviation(state)
        trust = torch.sigmoid(self.gate(torch.cat((state, away), 1)))
        self.usual = self.blend(trust, state)
        return away * trust

    def blend(self, trust, state):
        return torch.lerp(self.usual, state, trust)


class DriftModel(nn.Module):
    def __init__(self, window, reference, width=160):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(window, width), nn.Tanh())
        self.cell = nn.GRUCell(width, width)
        self.reference = reference(width)
        self.predict = nn.Linear(2 * width, window)
        self.width = width

    def start(self, machines):
        return torch.zeros(machines, self.width)

    def forward(self, window, state):
        state = self.cell(self.encode(window), state)
        novelty = self.reference(state)
        return self.predict(torch.cat((state, novelty), 1)), state, novelty
