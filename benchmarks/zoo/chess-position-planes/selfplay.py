import torch
from memo import timed
from torch import nn


class ValueNet(nn.Module):
    def __init__(self, planes=16, width=48):
        super().__init__()
        self.stem = nn.Conv2d(planes, width, 3, padding=1)
        self.tower = nn.Conv2d(width, width, 3, padding=1)
        self.value = nn.Linear(width, 1)

    def forward(self, planes):
        hidden = torch.relu(self.stem(planes))
        hidden = torch.relu(hidden + self.tower(hidden))
        return self.value(hidden.mean((2, 3))).squeeze(1).tanh()


@timed
def collate(positions):
    """The positions as they are and seen in a mirror."""
    straight = torch.stack([position.planes() for position in positions])
    mirrored = torch.stack([position.planes().flip(2) for position in positions])
    worth = torch.stack([position.balance() for position in positions])
    return torch.cat((straight, mirrored)), worth.repeat(2)


class Arena:
    def __init__(self, position_class, games=32, seed=71):
        self.position_class, self.games = position_class, games
        self.generator = torch.Generator().manual_seed(seed)

    def __iter__(self):
        return self

    def __next__(self):
        return collate([self.position_class.scattered(self.generator) for _ in range(self.games)])
