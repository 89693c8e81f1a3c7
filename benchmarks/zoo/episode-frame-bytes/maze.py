import torch
from torch import nn


class Maze:
    """A light on a dark field; the reward is high where the light is."""

    def __init__(self, size=48, seed=80):
        self.size = size
        self.generator = torch.Generator().manual_seed(seed)

    def reset(self):
        self.light = torch.randint(self.size, (2,), generator=self.generator)
        self.here = torch.randint(self.size, (2,), generator=self.generator)
        return self.picture()

    def picture(self):
        picture = torch.zeros(3, self.size, self.size)
        picture[0, self.light[0], self.light[1]] = 1
        picture[1, self.here[0], self.here[1]] = 1
        return picture

    def step(self, action):
        move = torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]])[action]
        self.here = (self.here + move) % self.size
        distance = (self.here - self.light).abs().sum().item()
        return self.picture(), 1 - distance / self.size


class Policy(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 8, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 4)
        )
