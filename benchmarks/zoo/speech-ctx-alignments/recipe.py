import torch
from alignment import SoftAlignment
from torch import nn


class EpochStats:
    def __init__(self):
        self.costs = []

    def worst(self):
        return max(float(cost.max()) for cost in self.costs)


class Recipe:
    def __init__(self, states=80):
        self.model = nn.Sequential(nn.Conv1d(16, 64, 5, padding=2), nn.ReLU(), nn.Conv1d(64, states, 1))
        self.optimizer = torch.optim.Adadelta(self.model.parameters(), lr=0.5)
        self.stats = EpochStats()

    def fit_batch(self, features):
        cost = SoftAlignment.apply(self.model(features).transpose(1, 2))
        cost.mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return cost

    def epoch(self, batches):
        for features in batches:
            cost = self.fit_batch(features)
            self.stats.costs.append(cost)
        print("worst alignment cost", round(self.stats.worst(), 3))
