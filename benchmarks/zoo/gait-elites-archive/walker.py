import torch
from torch import nn


class Population(nn.Module):
    """All walkers of a generation at once: genomes (walkers, weights) are the weights of their two layers."""

    def __init__(self, senses=10, hidden=48, joints=6):
        super().__init__()
        self.shapes = [(hidden, senses), (joints, hidden)]
        self.weights = sum(rows * columns for rows, columns in self.shapes)
        self.posture = nn.Parameter(torch.randn(joints) / 4, requires_grad=False)

    def forward(self, genomes, senses):
        first, second = genomes.split([rows * columns for rows, columns in self.shapes], 1)
        hidden = torch.tanh(torch.bmm(first.unflatten(1, self.shapes[0]), senses[..., None]))
        return torch.tanh(torch.bmm(second.unflatten(1, self.shapes[1]), hidden).squeeze(-1) + self.posture)


class Ground:
    def __init__(self, walkers, ticks=12):
        self.walkers, self.ticks = walkers, ticks
        self.mix = torch.randn(6, 10) / 2

    def walk(self, population, genomes):
        senses = torch.zeros(len(genomes), 10)
        contact, effort, way = 0.0, 0.0, torch.zeros(len(genomes))
        for tick in range(self.ticks):
            senses[:, 0] = torch.tensor(tick / 2).sin()
            joints = population(genomes, senses)
            senses = 0.7 * senses + joints @ self.mix
            contact = contact + (joints[:, :2] > 0).float()
            effort = effort + joints.square().mean(1)
            way = way + joints[:, 2] * joints[:, 3] - 0.1 * joints[:, 4:].abs().sum(1)
        behaviour = torch.cat((contact / self.ticks, (effort / self.ticks)[:, None]), 1)
        return way.tolist(), behaviour
