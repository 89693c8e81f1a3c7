import torch


class Surveys:
    def __init__(self, seed=14):
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count=64, points=120):
        positions = torch.randn(count, points, generator=self.generator)
        return positions, torch.cos(positions) - 0.1 * positions**2
