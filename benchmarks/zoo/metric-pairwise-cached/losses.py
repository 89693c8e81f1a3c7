import geometry
import torch


class HardestPairs:
    def __call__(self, distances, labels):
        same = geometry.same_class(labels)
        farthest = (distances * same).argmax(1)
        nearest = (distances + 1e6 * same).fill_diagonal_(1e6).argmin(1)
        return farthest, nearest


class MarginLoss:
    def __init__(self, miner, margin=0.2, spread=0.05):
        self.miner, self.margin, self.spread = miner, margin, spread

    def __call__(self, vectors, labels):
        distances = geometry.squared_distances(vectors)
        farthest, nearest = self.miner(distances.detach(), labels)
        rows = torch.arange(len(labels))
        triplet = torch.relu(distances[rows, farthest] - distances[rows, nearest] + self.margin).mean()
        pull = (distances * geometry.same_class(labels)).mean()
        return triplet + self.spread * pull
